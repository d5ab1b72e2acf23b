package dev.ringfetch.examples.quickstart;

import com.google.protobuf.ByteString;
import dev.ringfetch.examples.load.Connection;
import dev.ringfetch.examples.load.Lookup;
import dev.ringfetch.examples.load.Stopwatch;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.CommandLoop;
import dev.ringfetch.examples.verbs.WorkRequests;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.IndexGrpc.IndexBlockingStub;
import dev.ringfetch.index.v1.PutRequest;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** A client process with one connection: runs the commands of the quickstart. */
@Command(name = "quickstart-client")
final class QuickstartClient implements Callable<Integer> {
  /** An emulated processor may need long for a first call. */
  private static final int CONNECT_SECONDS = 60;

  private static final int VALUE_LENGTH = 32;

  @Mixin private Connection connection;

  @Option(names = "--entries", description = "At the most.")
  private int entries = Integer.MAX_VALUE;

  private final Stopwatch stopwatch = new Stopwatch();
  private IndexBlockingStub stub;
  private Lookup lookup;
  private List<ClassImage.Location> image;

  /** Runs the process. */
  public static void main(String[] args) {
    System.exit(new CommandLine(new QuickstartClient()).execute(args));
  }

  @Override
  public Integer call() throws Exception {
    stub = IndexGrpc.newBlockingStub(connection.channel());
    new CommandLoop()
        .on("connect", arguments -> connect())
        .on("load", arguments -> load())
        .on("compare", arguments -> compare(integer(arguments, 0), integer(arguments, 1)))
        .on("measure", arguments -> measure(integer(arguments, 0), integer(arguments, 1)))
        .on("sample", arguments -> sample(arguments.get(0)))
        .on("describe", arguments -> connection.describe())
        .run();
    connection.close();
    return CommandLine.ExitCode.OK;
  }

  private static int integer(List<String> arguments, int index) {
    return Integer.parseInt(arguments.get(index));
  }

  /** The first call; also writes the entry whose look-up is measured. */
  private Answer connect() {
    lookup = new Lookup(stub.withDeadlineAfter(CONNECT_SECONDS, TimeUnit.SECONDS), VALUE_LENGTH);
    lookup = new Lookup(stub, VALUE_LENGTH);
    lookup.check();
    return connection.describe();
  }

  private List<ClassImage.Location> image() throws IOException {
    if (image == null) {
      image = ClassImage.read(entries);
    }
    return image;
  }

  /** Writes every entry. */
  private Answer load() throws IOException {
    int created = 0;
    for (final ClassImage.Location location : image()) {
      final PutRequest request =
          PutRequest.newBuilder().setKey(location.key()).setValue(location.value()).build();
      if (stub.put(request).getCreated()) {
        created++;
      }
    }
    return new Answer().with("entries", image().size()).with("created", created);
  }

  /** Reads one part of all entries and compares each with the image, which this process has too. */
  private Answer compare(int part, int parts) throws IOException {
    int compared = 0;
    int mismatches = 0;
    for (int i = part; i < image().size(); i += parts) {
      final ClassImage.Location location = image().get(i);
      final GetResponse response = get(location.key());
      final Entry entry = response.getEntry();
      if (!response.hasEntry()
          || !entry.getKey().equals(location.key())
          || !entry.getValue().equals(location.value())) {
        mismatches++;
      }
      compared++;
    }
    return new Answer().with("compared", compared).with("mismatches", mismatches);
  }

  /** Times a number of look-ups, or those of some time, with their work requests. */
  private Answer measure(int calls, int millis) {
    final WorkRequests before = WorkRequests.ofClients();
    final Answer answer = stopwatch.run(lookup, calls, millis).answer();
    return WorkRequests.ofClients().since(before).addTo(answer);
  }

  private Answer sample(String key) {
    final GetResponse response = get(ByteString.copyFromUtf8(key));
    return new Answer()
        .with("value", response.hasEntry() ? response.getEntry().getValue().toStringUtf8() : "");
  }

  private GetResponse get(ByteString key) {
    return stub.get(GetRequest.newBuilder().setKey(key).build());
  }
}
