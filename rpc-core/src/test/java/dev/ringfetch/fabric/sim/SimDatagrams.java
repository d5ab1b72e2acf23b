package dev.ringfetch.fabric.sim;

import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.QueuePair;
import java.util.ArrayDeque;
import java.util.SplittableRandom;

/**
 * Datagrams of one connection, from the side that has offered to the other. Each takes a time of
 * its own, so that they overtake each other, and takes the memory as it finds it, piece by piece.
 * Where the network is a bad one, they are lost, come twice, late or damaged, and those of former
 * connections come to others.
 */
final class SimDatagrams {
  /** Datagrams that may wait for the receiver; what comes then is lost. */
  static final int RECEIVES = 64;

  private static final int LATE = 200; // times the usual delay
  private static final byte GONE = (byte) 0xA5; // what a receive holds afterwards

  private final SimNetwork network;
  private final SimQueuePair sender;
  private final SimQueuePair receiver;
  private final ArrayDeque<byte[]> arrived = new ArrayDeque<>();
  private final DirectRegion receive;
  private int posted;

  SimDatagrams(SimNetwork network, SimQueuePair sender, SimQueuePair receiver) {
    this.network = network;
    this.sender = sender;
    this.receiver = receiver;
    this.receive = new DirectRegion(network.context().maxDatagram());
  }

  boolean isSentBy(SimQueuePair side) {
    return sender == side;
  }

  int send(int offset, int length) {
    if (posted == network.context().sendQueueDepth()) {
      return QueuePair.SEND_QUEUE_FULL;
    }
    posted++;
    sender.view().drain(); // the card loads what the CPU had stored when it was posted
    network
        .timeline()
        .after(network.delayNs(), "datagram", () -> load(offset, new byte[length], 0));
    network.changed();
    return QueuePair.POSTED;
  }

  /** The card loads a piece of it, and sends it after the last one. */
  private void load(int offset, byte[] datagram, int loaded) {
    if (!sender.isOpen()) {
      posted--;
      return;
    }
    final long heldNs = sender.process().writeDelayNs();
    if (heldNs > 0) {
      network.timeline().after(heldNs, "held", () -> load(offset, datagram, loaded));
      return;
    }
    final int words = 1 + network.timeline().random().nextInt(64);
    final int length = Math.min(words * Long.BYTES, datagram.length - loaded);
    sender.view().memory().getBytes(offset + loaded, datagram, loaded, length);
    final int next = loaded + length;
    if (next < datagram.length) {
      network
          .timeline()
          .after(network.delayNs() / 16, "datagram's piece", () -> load(offset, datagram, next));
      return;
    }
    posted--;
    transmit(datagram);
  }

  private void transmit(byte[] datagram) {
    final int interval = network.context().datagramFaults();
    if (interval == 0 || !network.timeline().oneIn(interval)) {
      arriveLater(datagram, network.delayNs());
    } else {
      mistreat(datagram);
    }
    if (interval > 0) {
      network.strays().keep(datagram);
    }
  }

  private void mistreat(byte[] datagram) {
    final SplittableRandom random = network.timeline().random();
    switch (random.nextInt(5)) {
      case 0 -> {} // lost
      case 1 -> {
        arriveLater(datagram, network.delayNs());
        arriveLater(datagram, network.delayNs() * LATE);
      }
      case 2 -> arriveLater(datagram, network.delayNs() * LATE);
      case 3 -> {
        final byte[] damaged = datagram.clone();
        damaged[random.nextInt(damaged.length)] ^= (byte) (1 + random.nextInt(255));
        arriveLater(damaged, network.delayNs());
      }
      default -> {
        arriveLater(network.strays().draw(random, datagram), network.delayNs());
        arriveLater(datagram, network.delayNs());
      }
    }
  }

  private void arriveLater(byte[] datagram, long delayNs) {
    network.timeline().after(delayNs, "datagram arrives", () -> arrive(datagram));
  }

  private void arrive(byte[] datagram) {
    if (receiver.isOpen() && arrived.size() < RECEIVES) {
      arrived.add(datagram);
      network.changed();
    }
  }

  int poll(QueuePair.DatagramHandler handler, int limit) {
    int polled = 0;
    byte[] datagram;
    while (polled < limit && (datagram = next()) != null) {
      receive.putBytes(0, datagram, 0, datagram.length);
      handler.onDatagram(receive, 0, datagram.length);
      for (int i = 0; i < datagram.length; i++) {
        datagram[i] = GONE;
      }
      receive.putBytes(0, datagram, 0, datagram.length);
      polled++;
    }
    return polled;
  }

  private byte[] next() {
    synchronized (network) {
      network.pump();
      return receiver.isOpen() && !arrived.isEmpty() ? arrived.poll().clone() : null;
    }
  }
}
