package dev.ringfetch.index.peers;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.Domain;
import dev.ringfetch.fabric.DomainAdmission;
import dev.ringfetch.fabric.DomainContext;
import dev.ringfetch.fabric.DomainSegment;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.Rights;
import dev.ringfetch.index.onesided.LogMemoryDescriptor;
import dev.ringfetch.index.onesided.MemberMemory;
import dev.ringfetch.index.v1.FabricHint;
import dev.ringfetch.index.v1.LogOffer;
import java.io.IOException;
import java.security.SecureRandom;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The domains of one replica, one per fabric over which it has offered memory, each with a gate,
 * and a segment and an admission for the present epoch.
 */
final class FabricMemberMemory implements MemberMemory {
  private static final int TOKEN_LENGTH = 16;
  private static final SecureRandom RANDOM = new SecureRandom();

  private final List<Fabric> fabrics;
  private final Map<Fabric, Domain> domains = new HashMap<>();
  private @Nullable DomainSegment segment; // null: nothing is offered
  private DomainAdmission admission;

  /**
   * Creates it, without memory.
   *
   * @param fabrics the preferred one first
   */
  FabricMemberMemory(List<Fabric> fabrics) {
    this.fabrics = fabrics;
  }

  @Override
  public Offered offer(List<FabricHint> hints, int length) throws IOException {
    withdraw();
    IOException obstacle = null;
    for (final Fabric fabric : fabrics) {
      for (final FabricHint hint : hints) {
        if (hint.getFabric().equals(fabric.name())) {
          try {
            return offer(fabric, hint.getHint().toByteArray(), length);
          } catch (IOException e) { // the failure of the last fabric is reported
            withdraw();
            obstacle = e;
          }
        }
      }
    }
    if (obstacle != null) {
      throw obstacle;
    }
    return null;
  }

  private Offered offer(Fabric fabric, byte[] hint, int length) throws IOException {
    final Domain domain = domain(fabric);
    final byte[] token = new byte[TOKEN_LENGTH];
    RANDOM.nextBytes(token);
    admission = domain.admit(hint, token);
    segment = domain.grow(length);
    return new Offered(
        segment.region(),
        domain.gate(),
        LogOffer.newBuilder()
            .setFabric(fabric.name())
            .setDomain(ByteString.copyFrom(domain.descriptor()))
            .setSegment(ByteString.copyFrom(segment.descriptor()))
            .setToken(ByteString.copyFrom(token))
            .build());
  }

  private Domain domain(Fabric fabric) throws IOException {
    Domain domain = domains.get(fabric);
    if (domain == null) {
      domain =
          fabric.openDomain(
              new DomainContext()
                  .rights(Rights.WRITE)
                  .memoryLimit(LogMemoryDescriptor.LENGTH_LIMIT)
                  .peerLimit(2));
      domains.put(fabric, domain);
    }
    return domain;
  }

  @Override
  public void withdraw() {
    if (admission != null) {
      admission.close();
      admission = null;
    }
    if (segment != null) {
      segment.close();
      segment = null;
    }
  }

  @Override
  public void close() {
    withdraw();
    domains.values().forEach(Domain::close);
    domains.clear();
  }
}
