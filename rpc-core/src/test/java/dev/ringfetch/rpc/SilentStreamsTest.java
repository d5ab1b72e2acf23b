package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.ringfetch.v1.OpenResponse;
import dev.ringfetch.v1.SessionServiceGrpc;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Streams that are opened to a server, and on which the client says no hello. */
@Timeout(60)
final class SilentStreamsTest extends RingFixture {
  @Test
  void silentStreamsOfAHostAreBounded() throws Exception {
    final RingServer server = serve(Served.digesting(), builder -> builder);
    final ManagedChannel plain =
        Grpc.newChannelBuilder("localhost:" + server.getPort(), InsecureChannelCredentials.create())
            .build();
    final BlockingQueue<Status> ends = new LinkedBlockingQueue<>();
    try {
      for (int i = 0; i <= Admission.MAX_SILENT; i++) {
        SessionServiceGrpc.newStub(plain)
            .open(
                new StreamObserver<OpenResponse>() {
                  @Override
                  public void onNext(OpenResponse response) {}

                  @Override
                  public void onError(Throwable t) {
                    ends.add(Status.fromThrowable(t));
                  }

                  @Override
                  public void onCompleted() {
                    ends.add(Status.OK);
                  }
                });
      }
      final Status refused = ends.poll(30, TimeUnit.SECONDS);
      assertEquals(Status.Code.RESOURCE_EXHAUSTED, refused.getCode());
      assertEquals("too many streams of this host have said no hello", refused.getDescription());
      assertNull(ends.poll(), "the others wait");
    } finally {
      plain.shutdownNow();
    }
  }
}
