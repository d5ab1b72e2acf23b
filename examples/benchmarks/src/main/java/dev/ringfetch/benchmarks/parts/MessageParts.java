package dev.ringfetch.benchmarks.parts;

import com.google.protobuf.ByteString;
import dev.ringfetch.benchmarks.stages.OneThread;
import dev.ringfetch.call.Encoding;
import dev.ringfetch.call.MessageInput;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.session.bulk.BulkPool;
import dev.ringfetch.session.unit.UnitBuffer;
import io.grpc.MethodDescriptor;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** Messages of {@code Index.Get} into units and out of them, as calls do it. */
@State(Scope.Thread)
public class MessageParts {
  private static final int VALUE_LENGTH = 32;

  private final MethodDescriptor<GetRequest, GetResponse> method = IndexGrpc.getGetMethod();
  private final UnitBuffer request = new UnitBuffer();
  private final UnitBuffer response = new UnitBuffer();
  private final UnitBuffer written = new UnitBuffer();
  private OneThread session;
  private BulkPool bulk;
  private GetRequest asked;
  private GetResponse found;

  /** Makes the messages. */
  @Setup
  public void setUp() throws IOException {
    session = new OneThread();
    bulk = session.session().bulk();
    final ByteString key = ByteString.copyFrom("figures/32-bytes", StandardCharsets.US_ASCII);
    asked = GetRequest.newBuilder().setKey(key).build();
    final Entry entry =
        Entry.newBuilder()
            .setKey(key)
            .setValue(ByteString.copyFrom(new byte[VALUE_LENGTH]))
            .setVersion(1)
            .build();
    found = GetResponse.newBuilder().setEntry(entry).build();
    final int unused =
        Encoding.write(null, method.streamRequest(asked), request, Integer.MAX_VALUE, bulk)
            + Encoding.write(null, method.streamResponse(found), response, Integer.MAX_VALUE, bulk);
  }

  /** Ends the session. */
  @TearDown
  public void tearDown() {
    session.close();
  }

  /** Protobuf writes a request into a unit; its length. */
  @Benchmark
  public int requestWritten() throws IOException {
    written.clear();
    final int flags =
        Encoding.write(null, method.streamRequest(asked), written, Integer.MAX_VALUE, bulk);
    return flags + written.length();
  }

  /** Protobuf reads a request out of a unit. */
  @Benchmark
  public GetRequest requestRead() {
    try (MessageInput input = new MessageInput(request, request.offset(), request.length())) {
      return method.parseRequest(input);
    }
  }

  /** Protobuf writes a response into a unit, as it is made anew for each call. */
  @Benchmark
  public int responseWritten() throws IOException {
    written.clear();
    final GetResponse made = GetResponse.newBuilder().setEntry(found.getEntry()).build();
    final int flags =
        Encoding.write(null, method.streamResponse(made), written, Integer.MAX_VALUE, bulk);
    return flags + written.length();
  }

  /** Protobuf reads a response out of a unit. */
  @Benchmark
  public GetResponse responseRead() {
    try (MessageInput input = new MessageInput(response, response.offset(), response.length())) {
      return method.parseResponse(input);
    }
  }
}
