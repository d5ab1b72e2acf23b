package dev.ringfetch.examples.cluster;

import dev.ringfetch.index.IndexServer;
import dev.ringfetch.index.zookeeper.EmbeddedZooKeeper;
import java.io.InputStream;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;

/**
 * The main class of the cluster's processes: {@value #NODE} or {@value #COORDINATOR}, and the
 * arguments of that program. It ends by a signal, not with its input; with the property {@value
 * #PARENT} it ends with that process, too.
 */
final class ClusterChild {
  static final String NODE = "node";
  static final String COORDINATOR = "coordinator";

  /** Id of a process, with whose end this one ends. */
  static final String PARENT = "ringfetch.cluster.parent";

  private ClusterChild() {}

  /** Runs the program; ends the JVM. */
  public static void main(String[] arguments) throws Exception {
    final Long parent = Long.getLong(PARENT);
    if (parent != null) {
      endWith(parent);
    }
    final String[] rest = Arrays.copyOfRange(arguments, 1, arguments.length);
    if (arguments[0].equals(NODE)) {
      IndexServer.main(rest);
    } else {
      System.setIn(new Endless());
      EmbeddedZooKeeper.main(rest);
    }
  }

  private static void endWith(long parent) {
    final Thread thread =
        new Thread(
            () -> {
              ProcessHandle.of(parent).ifPresent(process -> process.onExit().join());
              Runtime.getRuntime().halt(1);
            },
            "end-with-parent");
    thread.setDaemon(true);
    thread.start();
  }

  /** An input in which nothing ever comes. */
  private static final class Endless extends InputStream {
    @Override
    public int read(byte[] bytes, int offset, int length) {
      return length == 0 ? 0 : read();
    }

    @Override
    public int read() {
      try {
        new CountDownLatch(1).await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      return -1;
    }
  }
}
