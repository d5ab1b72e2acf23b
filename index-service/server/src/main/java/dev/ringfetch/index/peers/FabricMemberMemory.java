package dev.ringfetch.index.peers;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.Admission;
import dev.ringfetch.fabric.Domain;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.GatePage;
import dev.ringfetch.fabric.Segment;
import dev.ringfetch.index.replication.MemberMemory;
import dev.ringfetch.index.v1.FabricHint;
import dev.ringfetch.index.v1.LogOffer;
import java.io.IOException;
import java.security.SecureRandom;
import java.util.List;

/** The domain of one replica: its gate, and a segment and an admission for each epoch. */
final class FabricMemberMemory implements MemberMemory {
  private static final int TOKEN_LENGTH = 16;
  private static final SecureRandom RANDOM = new SecureRandom();

  private final Fabric fabric;
  private final Domain domain;
  private Segment segment; // null: nothing is offered
  private Admission admission;

  FabricMemberMemory(Fabric fabric, Domain domain) {
    this.fabric = fabric;
    this.domain = domain;
  }

  @Override
  public GatePage gate() {
    return domain.gate();
  }

  @Override
  public Offered offer(List<FabricHint> hints, int length) throws IOException {
    withdraw();
    for (final FabricHint hint : hints) {
      if (hint.getFabric().equals(fabric.name())) {
        return offer(hint.getHint().toByteArray(), length);
      }
    }
    return null;
  }

  private Offered offer(byte[] hint, int length) throws IOException {
    final byte[] token = new byte[TOKEN_LENGTH];
    RANDOM.nextBytes(token);
    admission = domain.admit(hint, token);
    segment = domain.grow(length);
    return new Offered(
        segment.region(),
        LogOffer.newBuilder()
            .setFabric(fabric.name())
            .setDomain(ByteString.copyFrom(domain.descriptor()))
            .setSegment(ByteString.copyFrom(segment.descriptor()))
            .setToken(ByteString.copyFrom(token))
            .build());
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
    domain.close();
  }
}
