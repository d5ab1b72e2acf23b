package dev.ringfetch.interop;

import dev.ringfetch.rpc.ReplyMode;
import dev.ringfetch.system.ShmTempDirFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** gRPC's interop suite over RDMA, to a server in another process. */
@Tag("verbs")
class VerbsInteropTest {
  private static final String VERBS = "verbs";

  /** Of the device: rdma_cm knows none at localhost. */
  private static final String HOST = System.getProperty("ringfetch.test.host", "10.0.2.15");

  private static final String LIBRARY = "ringfetch.rdma.library";

  @TempDir(factory = ShmTempDirFactory.class)
  static Path directory;

  private static Child server;

  @BeforeAll
  static void startServer() throws Exception {
    final List<String> flags = new ArrayList<>();
    if (System.getProperty(LIBRARY) != null) {
      flags.add("-D" + LIBRARY + "=" + System.getProperty(LIBRARY));
    }
    server = Child.start(flags, InteropServer.class.getName(), directory.toString(), VERBS);
    RemoteInterop.serverPort =
        Integer.parseInt(server.readTo(InteropServer.PORT).substring(InteropServer.PORT.length()));
    ChannelInterop.directory = directory;
    ChannelInterop.host = HOST;
  }

  @AfterAll
  static void endServer() {
    server.close();
    ChannelInterop.host = "localhost";
    ChannelInterop.fabric = UnaryOperator.identity();
  }

  @TestFactory
  Stream<DynamicTest> answersAreFetched() {
    return over(ReplyMode.FETCH);
  }

  @TestFactory
  Stream<DynamicTest> answersArePushed() {
    return over(ReplyMode.PUSH);
  }

  @TestFactory
  Stream<DynamicTest> answersAreSentInDatagrams() {
    return over(ReplyMode.DATAGRAM);
  }

  private static Stream<DynamicTest> over(ReplyMode mode) {
    ChannelInterop.fabric = builder -> builder.fabrics(VERBS).replyMode(mode);
    // Those are left out that leave themselves out: others stand for them.
    return InteropTest.remoteCases()
        .filter(test -> !InteropTest.SKIP_THEMSELVES.containsKey(test.getDisplayName()));
  }
}
