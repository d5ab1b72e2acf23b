package dev.ringfetch.index.service;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.coordinator.LocalCoordinator;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.journal.IndexDefinition;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.replication.Peers;
import dev.ringfetch.index.replication.Replicas;
import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.LeaderMessage;
import dev.ringfetch.index.v1.Member;
import dev.ringfetch.index.v1.MemberMessage;
import dev.ringfetch.index.v1.Node;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The rehearsal of a leadership: wins, leads and writes an index of one member, in memory and with
 * a coordinator of its own. A node that was a member alone until its leader dies would else load
 * the classes of a leader then, which takes longer than all the rest of a fail-over.
 */
public final class Rehearsal {
  private static final String NAME = "rehearsal";
  private static final Node SELF = Node.newBuilder().setId(1).setIncarnation(1).build();
  private static final long BYTES = 16 << 20;

  /** A replica alone leads after a few steps. */
  private static final int MOST_STEPS = 100;

  private Rehearsal() {}

  /**
   * Carries it out, on the calling thread.
   *
   * @return whether the index was led and written
   * @throws IOException if the memory fails
   */
  public static boolean run() throws IOException {
    final LocalCoordinator coordinator = new LocalCoordinator.Truth().connect();
    try (Indexes indexes = Indexes.unrecovered(IndexMemory.ofProcess(BYTES))) {
      indexes.recoverAndServe();
      try (Replicas replicas =
          new Replicas(
              new Replicas.Context()
                  .self(SELF)
                  .coordinator(coordinator)
                  .peers(new NoPeers())
                  .stores(
                      group ->
                          new ReplicatedIndex(
                              indexes, told -> told.onConfirmed(true), grant -> {}, null)))) {
        coordinator.create(group(), (result, state) -> {});
        for (int i = 0; i < MOST_STEPS && indexes.find(NAME) == null; i++) {
          replicas.work();
        }
        return write(indexes.find(NAME), replicas);
      }
    }
  }

  private static boolean write(ServedIndex index, Replicas replicas) {
    if (index == null) {
      return false;
    }
    final AtomicInteger outcome = new AtomicInteger(Write.UNKNOWN);
    final ByteString text = ByteString.copyFromUtf8(NAME);
    final int refused =
        index
            .partition(text)
            .submit(new Write(write -> outcome.set(write.outcome())).put(text, text));
    replicas.work();
    return refused == 0 && outcome.get() == Write.DONE;
  }

  private static GroupState group() {
    return GroupState.newBuilder()
        .setIndex(NAME)
        .setReplicas(1)
        .setDefinition(new IndexDefinition(IndexKind.HASH, Durability.MEMORY, 1, 1, 1).encoded())
        .setWon(
            Configuration.newBuilder()
                .setLeader(SELF.getId())
                .setNonce(1)
                .addMembers(
                    Member.newBuilder()
                        .setNode(SELF.getId())
                        .setIncarnation(SELF.getIncarnation())))
        .build();
  }

  /** No other node. */
  private static final class NoPeers implements Peers {
    @Override
    public void connect(Node node) {}

    @Override
    public void disconnect(long node) {}

    @Override
    public boolean send(long node, LeaderMessage message) {
      return false;
    }

    @Override
    public void answer(long leader, MemberMessage message) {}
  }
}
