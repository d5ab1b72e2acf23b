package dev.ringfetch.index.zookeeper;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** A TCP proxy in front of a server, which cuts connections and holds what goes either way. */
final class TcpProxy implements AutoCloseable {
  private final ServerSocket listening;
  private final int target;
  private final Set<Socket> sockets = new HashSet<>();
  private boolean cut;
  private boolean requestsHeld;
  private boolean answersHeld;
  private int answersBefore;

  /** Listens at any port of the loopback interface. */
  TcpProxy(int target) throws IOException {
    this.target = target;
    listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    start("proxy", this::accept);
  }

  /** Where it listens. */
  String address() {
    return "127.0.0.1:" + listening.getLocalPort();
  }

  /** From now on, what clients send does not arrive. */
  synchronized void holdRequests() {
    requestsHeld = true;
  }

  /** From now on, what the server sends does not arrive. */
  void holdAnswers() {
    holdAnswersAfter(0);
  }

  /** From now on, only so many pieces of what the server sends arrive. */
  synchronized void holdAnswersAfter(int pieces) {
    answersHeld = true;
    answersBefore = pieces;
  }

  /** Ends all connections, and takes no others; what is held is lost. */
  void cut() {
    final List<Socket> ended;
    synchronized (this) {
      cut = true;
      ended = List.copyOf(sockets);
      sockets.clear();
      notifyAll();
    }
    ended.forEach(TcpProxy::end);
  }

  /** Takes connections again. */
  synchronized void resume() {
    cut = false;
    requestsHeld = false;
    answersHeld = false;
  }

  @Override
  public void close() throws IOException {
    listening.close();
    cut();
  }

  private void accept() {
    while (!listening.isClosed()) {
      Socket client = null;
      try {
        client = listening.accept();
        final Socket server = new Socket(InetAddress.getLoopbackAddress(), target);
        if (add(client, server)) {
          final Socket from = client;
          start("requests", () -> pump(from, server, true));
          start("answers", () -> pump(server, from, false));
        } else {
          end(client);
          end(server);
        }
      } catch (IOException e) {
        end(client); // the server is away, or the proxy is closed
      }
    }
  }

  private synchronized boolean add(Socket client, Socket server) {
    return !cut && sockets.add(client) && sockets.add(server);
  }

  private void pump(Socket from, Socket to, boolean requests) {
    final byte[] buffer = new byte[8192];
    try {
      final InputStream in = from.getInputStream();
      final OutputStream out = to.getOutputStream();
      int length;
      while ((length = in.read(buffer)) >= 0) {
        if (!mayPass(from, requests)) {
          break;
        }
        out.write(buffer, 0, length);
      }
    } catch (IOException e) {
      // Cut.
    }
    end(from);
    end(to);
  }

  /** Waits while it is held; false: then cut. */
  private synchronized boolean mayPass(Socket from, boolean requests) {
    if (!requests && answersHeld && answersBefore > 0) {
      answersBefore--;
      return sockets.contains(from);
    }
    try {
      while (sockets.contains(from) && (requests ? requestsHeld : answersHeld)) {
        wait();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
    return sockets.contains(from);
  }

  private static void end(Socket socket) {
    try {
      if (socket != null) {
        socket.close();
      }
    } catch (IOException e) {
      // It has ended.
    }
  }

  private static void start(String name, Runnable run) {
    final Thread thread = new Thread(run, name);
    thread.setDaemon(true);
    thread.start();
  }
}
