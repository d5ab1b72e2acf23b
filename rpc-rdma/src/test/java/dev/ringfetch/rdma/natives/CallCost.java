package dev.ringfetch.rdma.natives;

import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvSge;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.SVCPollCq;
import com.ibm.disni.verbs.SVCPostSend;
import com.ibm.disni.verbs.impl.NatIbvQP;
import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.Inet4Address;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.LinkedList;
import java.util.List;

/**
 * What a post and a poll cost through DiSNI's stateful verb calls and through the natives of this
 * package: the same queue pair, the same request, by turns in one run. A program, not a test: needs
 * a device.
 */
final class CallCost {
  private static final int ROUNDS = 40;
  private static final int BLOCKS = 150;
  private static final int POLLS = 20_000;
  private static final int REFUSALS = 2_000;

  /** Posts of a block, of which one more is signaled, so that the queue has room for the next. */
  private static final int POSTS = 8;

  private static final int LENGTH = 32;
  private static final int MORE_THAN_INLINE = RcLoop.PAGE;

  /** One way to say it. */
  private interface Way {
    void post() throws IOException;

    int poll() throws IOException;

    /** Posts what the library refuses; returns a negative number if it was told. */
    int postRefused();
  }

  /** Times and bytes allocated of each round, per operation. */
  private static final class Series {
    private final double[] ns = new double[ROUNDS];
    private double bytes;

    void put(int round, long ns, long bytes, int count) {
      this.ns[round] = (double) ns / count;
      this.bytes = (double) bytes / count;
    }

    @Override
    public String toString() {
      double[] sorted = ns.clone();
      Arrays.sort(sorted);
      return String.format(
          "%10.1f  [%.1f, %.1f]  %.1f B",
          sorted[ROUNDS / 2], sorted[ROUNDS / 4], sorted[ROUNDS * 3 / 4], bytes);
    }
  }

  private final RcLoop loop;
  private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private CallCost(RcLoop loop) {
    this.loop = loop;
  }

  /** Takes the natives first and DiSNI second, or the other way round, from round to round. */
  public static void main(String[] arguments) throws IOException {
    NativeLibrary.require();
    try (RcLoop loop = new RcLoop(new InetSocketAddress(RcLoopTest.local(Inet4Address.class), 0))) {
      loop.resolve();
      loop.request(new byte[0]);
      loop.accept(new byte[0]);
      new CallCost(loop).run();
    }
  }

  private void run() throws IOException {
    Way[] ways = {natives(), statefulCalls()};
    Series[][] series = new Series[3][ways.length];
    for (Series[] each : series) {
      Arrays.setAll(each, i -> new Series());
    }
    for (int round = -ROUNDS / 4; round < ROUNDS; round++) {
      for (int i = 0; i < ways.length; i++) {
        int way = (i + round) & 1;
        measure(ways[way], series, way, Math.max(0, round));
      }
    }
    String[] names = {"post + poll", "poll", "refused post"};
    System.out.println("ns per operation: median [quartiles], bytes allocated");
    for (int i = 0; i < names.length; i++) {
      System.out.printf("%-12s  natives  %s%n", names[i], series[i][0]);
      System.out.printf("%-12s  DiSNI    %s%n", names[i], series[i][1]);
    }
  }

  private void measure(Way way, Series[][] series, int index, int round) throws IOException {
    long ns = 0;
    long bytes = 0;
    for (int i = 0; i < BLOCKS; i++) {
      long bytesBefore = threads.getCurrentThreadAllocatedBytes();
      long start = System.nanoTime();
      for (int j = 0; j < POSTS; j++) {
        way.post();
        check(way.poll() == 0);
      }
      ns += System.nanoTime() - start;
      bytes += threads.getCurrentThreadAllocatedBytes() - bytesBefore;
      drain();
    }
    series[0][index].put(round, ns, bytes, BLOCKS * POSTS);

    long bytesBefore = threads.getCurrentThreadAllocatedBytes();
    long start = System.nanoTime();
    for (int i = 0; i < POLLS; i++) {
      check(way.poll() == 0);
    }
    ns = System.nanoTime() - start;
    bytes = threads.getCurrentThreadAllocatedBytes() - bytesBefore;
    series[1][index].put(round, ns, bytes, POLLS);

    bytesBefore = threads.getCurrentThreadAllocatedBytes();
    start = System.nanoTime();
    for (int i = 0; i < REFUSALS; i++) {
      check(way.postRefused() < 0);
    }
    ns = System.nanoTime() - start;
    bytes = threads.getCurrentThreadAllocatedBytes() - bytesBefore;
    series[2][index].put(round, ns, bytes, REFUSALS);
  }

  /** A signaled WRITE behind all others, whose completion says that the queue has room again. */
  private void drain() {
    loop.target(0);
    check(loop.client.post(SendLayout.WRITE, SendLayout.SIGNALED, 0, LENGTH) == 0);
    check(loop.client.await() == CompletionLayout.SUCCESS);
  }

  private static void check(boolean holds) {
    if (!holds) {
      throw new IllegalStateException("the measurement is not what it was meant to be");
    }
  }

  private Way natives() {
    Request write = request(LENGTH);
    Request refused = request(MORE_THAN_INLINE);
    ByteBuffer completion = RcLoop.direct(CompletionLayout.SIZE);
    long out = Regions.address(completion);
    long queuePair = loop.client.queuePair;
    long queue = loop.client.queue;
    return new Way() {
      @Override
      public void post() {
        check(QueuePairs.postSend(queuePair, write.address()) == 0);
      }

      @Override
      public int poll() {
        return CompletionQueues.poll(queue, 1, out);
      }

      @Override
      public int postRefused() {
        return QueuePairs.errno(QueuePairs.postSend(queuePair, refused.address()));
      }
    };
  }

  private Request request(int length) {
    return new Request(SendLayout.WRITE)
        .flags(SendLayout.INLINE)
        .local(Regions.address(loop.client.memory), length, loop.client.region.getLkey())
        .remote(Regions.address(loop.server.memory), loop.server.region.getRkey());
  }

  private Way statefulCalls() throws IOException {
    SVCPostSend write = call(LENGTH);
    SVCPostSend refused = call(MORE_THAN_INLINE);
    SVCPollCq poll = loop.client.completions.poll(new IbvWC[] {new IbvWC()}, 1);
    return new Way() {
      @Override
      public void post() throws IOException {
        write.execute();
      }

      @Override
      public int poll() throws IOException {
        return poll.execute().getPolls();
      }

      @Override
      public int postRefused() {
        try {
          refused.execute();
          return 0;
        } catch (IOException e) {
          return -1;
        }
      }
    };
  }

  @SuppressWarnings("JdkObsolete") // DiSNI asks for a LinkedList
  private SVCPostSend call(int length) throws IOException {
    IbvSge piece = new IbvSge();
    piece.setAddr(Regions.address(loop.client.memory));
    piece.setLength(length);
    piece.setLkey(loop.client.region.getLkey());
    IbvSendWR write = new IbvSendWR();
    write.setOpcode(IbvSendWR.IBV_WR_RDMA_WRITE);
    write.setSend_flags(IbvSendWR.IBV_SEND_INLINE);
    write.setSg_list(new LinkedList<>(List.of(piece)));
    write.getRdma().setRemote_addr(Regions.address(loop.server.memory));
    write.getRdma().setRkey(loop.server.region.getRkey());
    return new NatIbvQP(loop.client.queuePair, null).postSend(List.of(write), List.of());
  }
}
