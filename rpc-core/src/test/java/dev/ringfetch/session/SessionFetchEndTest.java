package dev.ringfetch.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.fabric.CountedQueuePair;
import dev.ringfetch.ring.ArenaDescriptor;
import dev.ringfetch.ring.FrameDescriptor;
import dev.ringfetch.session.remote.ReplyPolicy;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What of that which has come is taken when a session ends whose sides have memory of their own.
 */
@Timeout(60)
class SessionFetchEndTest {
  private static final int SLOTS = 64;
  private static final int RING_LENGTH = SLOTS * FrameDescriptor.SLOT_LENGTH;
  private static final int RESPONSE_RING = ArenaDescriptor.responseRingOffset(RING_LENGTH);
  private static final int DATAGRAMS = 16; // that are taken at a time
  private static final int RESPONSE =
      FrameDescriptor.PREFIX | FrameDescriptor.MESSAGE | FrameDescriptor.SUFFIX;

  private RemoteSteps steps;

  private void create(ReplyPolicy mode) throws IOException {
    steps = new RemoteSteps(mode, RING_LENGTH);
    steps.mayEnd();
  }

  /** So many requests are at the server, and the reads that were posted with them are not done. */
  private void send(int requests) throws IOException {
    for (int i = 0; i < requests; i++) {
      steps.send();
    }
    while (steps.requests.size() < requests) {
      assertTrue(steps.card(), "the requests do not come");
      steps.serverRound();
    }
  }

  /** A server that writes what it likes: into the client's memory, or its own. */
  private HostileRing hostile(CountedQueuePair memoryOf) {
    return new HostileRing(
        memoryOf.memory(),
        RESPONSE_RING,
        RING_LENGTH,
        steps.geometry.epoch(),
        steps.client.pollPosition(),
        true);
  }

  /** Writes a frame that a server may write at any time. */
  private void drain(HostileRing ring) {
    ring.write(FrameDescriptor.SESSION_STREAM_ID, FrameDescriptor.DRAIN, 0, ack(), new byte[0]);
  }

  /** Of all that the client has sent. */
  private int ack() {
    return (int) steps.client.writePosition();
  }

  @ParameterizedTest
  @EnumSource
  void whatHasComeIsDelivered(ReplyPolicy mode) throws IOException {
    create(mode);
    send(3);
    steps.cards();
    steps.clientRound(); // the first read has missed
    steps.respond();
    if (mode == ReplyPolicy.DATAGRAM) {
      steps.cards(); // one may overtake the other
    }
    steps.respond();
    steps.cards();
    steps.client.end("over");
    assertEquals(2, steps.answered);
    assertEquals(1, steps.unanswered);
    assertEquals(List.of("over"), steps.clientEnds);
  }

  /** Nothing has come of what is still being read. */
  @Test
  void readThatIsUnderWayIsNotWaitedFor() throws IOException {
    create(ReplyPolicy.FETCH);
    send(1);
    steps.client.end("over");
    assertEquals(0, steps.answered);
    assertEquals(1, steps.unanswered);
    assertEquals(List.of("over"), steps.clientEnds);
  }

  /** As many as a ring holds, of a server that goes on sending. */
  @Test
  void serverThatSendsOnIsNotReadForEver() throws IOException {
    create(ReplyPolicy.DATAGRAM);
    final int placed = SLOTS - DATAGRAMS;
    final HostileRing ring = hostile(steps.clientPair);
    for (int i = 0; i < placed; i++) {
      drain(ring);
    }
    final HostileRing sent = hostile(steps.serverPair);
    sent.position(ring.position());
    for (int i = 0; i < 2 * DATAGRAMS; i++) {
      final int slot = (int) sent.position() & (SLOTS - 1);
      drain(sent);
      steps.serverPair.sendDatagram(
          RESPONSE_RING + slot * FrameDescriptor.SLOT_LENGTH, FrameDescriptor.SLOT_LENGTH);
      steps.cards();
    }
    steps.client.end("over");
    assertEquals(SLOTS, steps.client.count(Counter.SESSION_FRAMES_RECEIVED));
    assertEquals(List.of("over"), steps.clientEnds);
  }

  /** What follows a frame that no server may write is not believed. */
  @Test
  void nothingIsTakenBehindAViolation() throws IOException {
    create(ReplyPolicy.PUSH);
    final ClientStream stream = steps.send();
    steps.cards();
    steps.serverRound();
    final HostileRing ring = hostile(steps.clientPair);
    ring.write(FrameDescriptor.SESSION_STREAM_ID, RESPONSE, 0, ack(), new byte[4]);
    ring.write(stream.id, RESPONSE, 0, ack(), new byte[4]);
    steps.clientRound();
    assertEquals(0, steps.answered);
    assertEquals(1, steps.unanswered);
    assertEquals(List.of("the peer broke the protocol"), steps.clientEnds);
    assertTrue(steps.client.isPeerAtFault());
  }

  /** The frame that the one behind the violation would have been, by itself. */
  @Test
  void answerByItselfIsTaken() throws IOException {
    create(ReplyPolicy.PUSH);
    final ClientStream stream = steps.send();
    steps.cards();
    hostile(steps.clientPair).write(stream.id, RESPONSE, 0, ack(), new byte[4]);
    steps.clientRound();
    assertEquals(1, steps.answered);
    assertEquals(List.of(), steps.clientEnds);
  }
}
