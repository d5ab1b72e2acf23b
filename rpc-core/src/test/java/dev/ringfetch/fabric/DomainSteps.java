package dev.ringfetch.fabric;

import static dev.ringfetch.fabric.FabricHarness.DEADLINE_NS;
import static dev.ringfetch.fabric.FabricHarness.token;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Steps of tests on domains of the server of a harness, for the client of the same harness. */
public final class DomainSteps {
  /** Length of the segments, unless a test needs others. */
  public static final int SIZE = 16 * 1024;

  private final FabricHarness harness;
  private int tokens;

  public DomainSteps(FabricHarness harness) {
    this.harness = harness;
  }

  /** One peer of a domain, and the owner's side of its admission. */
  public record Peer(RemoteDomain remote, DomainAdmission admission) {}

  public Domain open(Rights rights) throws IOException {
    return harness.server.openDomain(new DomainContext().rights(rights));
  }

  /** A token that none before was. */
  public byte[] nextToken() {
    return token("peer " + tokens++);
  }

  public Peer connect(Domain domain) throws IOException {
    byte[] token = nextToken();
    DomainAdmission admission = domain.admit(harness.client.hint(), token);
    return new Peer(
        harness.client.connectDomain(domain.descriptor(), token, DEADLINE_NS), admission);
  }

  /** Polls until so many completions are in, as (id, status, value) each. */
  public List<long[]> completions(RemoteDomain remote, int count) throws IOException {
    List<long[]> all = new ArrayList<>();
    harness.drive(
        () -> {
          remote
              .completions()
              .poll(
                  (id, status, value) -> all.add(new long[] {id, status, value}),
                  count - all.size());
          return all.size() >= count;
        });
    assertEquals(count, all.size());
    return all;
  }

  /** Waits for the completion of one work request that was posted, and returns its value. */
  public long complete(RemoteDomain remote, int posted) throws IOException {
    assertEquals(QueuePair.POSTED, posted);
    long[] completion = completions(remote, 1).get(0);
    assertEquals(QueuePair.SUCCESS, completion[1]);
    return completion[2];
  }

  /** Reads a word by a work request. */
  public long readWord(RemoteDomain remote, int segment, long offset) throws IOException {
    MemoryRegion local = remote.scratch(64);
    complete(remote, remote.read(segment, offset, local, 8, Long.BYTES, 1));
    return local.getLong(8);
  }

  /** Writes a word by a work request, and waits until a READ returns it. */
  public void writeWord(RemoteDomain remote, int segment, long offset, long value)
      throws IOException {
    MemoryRegion local = remote.scratch(64);
    local.putLong(0, value);
    complete(remote, remote.write(segment, offset, local, 0, Long.BYTES, 1));
    harness.drive(
        () -> {
          try {
            return readWord(remote, segment, offset) == value;
          } catch (IOException e) {
            throw new AssertionError(e);
          }
        });
  }
}
