package dev.ringfetch.system;

import static java.nio.charset.StandardCharsets.US_ASCII;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.Doorbell;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.ring.ArenaDescriptor;
import dev.ringfetch.ring.ControlDescriptor;
import dev.ringfetch.session.HostileRing;
import dev.ringfetch.v1.Answer;
import dev.ringfetch.v1.FabricOffer;
import dev.ringfetch.v1.Hello;
import dev.ringfetch.v1.OpenRequest;
import dev.ringfetch.v1.OpenResponse;
import dev.ringfetch.v1.SessionServiceGrpc;
import io.grpc.Channel;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A session that was opened as every client opens one, and then lies open to its holder: memory,
 * file and socket.
 */
final class HostileSession implements QueuePair.Listener, AutoCloseable {
  private static final int OPEN_S = 20;
  private static final long CONNECT_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(5);
  private static final int NAME_LENGTH_OFFSET = 29; // of the descriptor; see docs/wire-format.md

  final QueuePair queuePair;
  final HostileRing ring;
  final Answer answer;
  final FileChannel file;
  final Path bell;
  private final Doorbell doorbell;
  private final StreamObserver<OpenRequest> control;
  private volatile boolean ended;

  private HostileSession(
      QueuePair queuePair,
      Answer answer,
      FileChannel file,
      Path bell,
      Doorbell doorbell,
      StreamObserver<OpenRequest> control) {
    this.queuePair = queuePair;
    this.answer = answer;
    this.file = file;
    this.bell = bell;
    this.doorbell = doorbell;
    this.control = control;
    this.ring =
        new HostileRing(
            queuePair.memory(),
            ArenaDescriptor.REQUEST_RING_OFFSET,
            answer.getGeometry().getRequestRingBytes(),
            answer.getEpoch(),
            answer.getRequestPosition());
    queuePair.bind(this);
  }

  /**
   * Opens a session.
   *
   * @throws IOException when the server gives none.
   */
  static HostileSession open(Channel channel, Fabric fabric, Doorbell doorbell, Path directory)
      throws IOException {
    final CompletableFuture<OpenResponse> answered = new CompletableFuture<>();
    final StreamObserver<OpenRequest> control =
        SessionServiceGrpc.newStub(channel)
            .open(
                new StreamObserver<>() {
                  @Override
                  public void onNext(OpenResponse response) {
                    answered.complete(response);
                  }

                  @Override
                  public void onError(Throwable t) {
                    answered.completeExceptionally(t);
                  }

                  @Override
                  public void onCompleted() {
                    answered.completeExceptionally(new IOException("the server ended the stream"));
                  }
                });
    control.onNext(
        OpenRequest.newBuilder()
            .setHello(
                Hello.newBuilder()
                    .setMinVersion(1)
                    .setMaxVersion(1)
                    .addFabrics(
                        FabricOffer.newBuilder()
                            .setName(fabric.name())
                            .setHint(ByteString.copyFrom(fabric.hint()))))
            .build());
    try {
      final OpenResponse response = answered.get(OPEN_S, TimeUnit.SECONDS);
      if (!response.hasAnswer()) {
        throw new IOException(response.getRefusal().getReason());
      }
      final Answer answer = response.getAnswer();
      final byte[] descriptor = answer.getFabricDescriptor().toByteArray();
      final Path process = processDirectory(directory, descriptor);
      final ByteBuffer numbers = ByteBuffer.wrap(descriptor).order(ByteOrder.LITTLE_ENDIAN);
      final FileChannel file = // before it is unlinked
          FileChannel.open(
              process.resolve("session-" + numbers.getInt(1)), StandardOpenOption.WRITE);
      final QueuePair queuePair =
          fabric.connect(doorbell, descriptor, answer.getToken().toByteArray(), CONNECT_TIMEOUT_NS);
      return new HostileSession(
          queuePair, answer, file, process.resolve("bell-" + numbers.getInt(5)), doorbell, control);
    } catch (IOException e) {
      control.onCompleted();
      throw e;
    } catch (Exception e) {
      throw new IOException("no session: " + e, e);
    }
  }

  private static Path processDirectory(Path directory, byte[] descriptor) throws IOException {
    final String name =
        new String(
            descriptor, NAME_LENGTH_OFFSET + 1, descriptor[NAME_LENGTH_OFFSET] & 0xFF, US_ASCII);
    try (Stream<Path> users = Files.list(directory)) {
      return users
          .map(user -> user.resolve(name))
          .filter(Files::isDirectory)
          .findAny()
          .orElseThrow(() -> new IOException("no directory " + name));
    }
  }

  /** How far the server says that it has consumed. */
  long consumed() {
    return queuePair
        .memory()
        .getLongAcquire(ArenaDescriptor.SERVER_CONTROL_OFFSET + ControlDescriptor.CONSUMED_OFFSET);
  }

  /** True when the server has ended the session. */
  boolean hasEnded() throws IOException {
    doorbell.poll();
    return ended;
  }

  @Override
  public void onDoorbell() {}

  @Override
  public void onDisconnected(String reason) {
    ended = true;
  }

  @Override
  public void close() throws IOException {
    queuePair.close();
    file.close();
    control.onCompleted();
  }
}
