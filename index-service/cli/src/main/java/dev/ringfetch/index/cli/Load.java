package dev.ringfetch.index.cli;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.cli.EntryReader.Line;
import dev.ringfetch.index.client.AsyncIndex;
import dev.ringfetch.index.client.IndexException;
import dev.ringfetch.index.client.OverloadedException;
import io.grpc.Status;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;

/**
 * The writer of a file's entries to an index, in batches: it reads the next batch while one is
 * being written. Lines with the same key are written in their order. Bad lines are reported and
 * skipped. If the input pauses, as a pipe may, the lines so far are written at once.
 *
 * <p>Used by one thread.
 */
final class Load {
  private static final int BATCH_ENTRIES = 500;
  private static final int BATCH_BYTES = 900 << 10; // one call: putAll ends these at 1 MiB
  private static final long REPORTED = 20; // bad lines

  private final EntryFile file;
  private final Supplier<AsyncIndex<ByteString, ByteString>> opening;
  private final Stdio stdio;
  private final long maxBad;
  private final Duration ttl;
  private final long beginNs = System.nanoTime();
  private AsyncIndex<ByteString, ByteString> index; // null: not opened yet
  private Batch filling = new Batch();
  private Batch sent; // null: none
  private long loaded;
  private long bad;
  private long ended;

  /** Entries with the last line of each. */
  private static final class Batch {
    private final Map<ByteString, Line> lines = new LinkedHashMap<>();
    private long read; // number of lines; some may have the same key
    private long bytes;

    /** The single writes of this batch, by their keys. The other entries go together. */
    private final Map<ByteString, CompletableFuture<Long>> alone = new LinkedHashMap<>();

    private CompletableFuture<Void> together;

    void add(Line line) {
      lines.remove(line.key()); // moves the key to the end, the last to be written
      lines.put(line.key(), line);
      read++;
      bytes += line.key().size() + line.value().size();
    }

    boolean isFull() {
      return read >= BATCH_ENTRIES || bytes >= BATCH_BYTES;
    }

    /** The entries that go together. */
    Map<ByteString, ByteString> entries() {
      final Map<ByteString, ByteString> entries = new LinkedHashMap<>();
      for (final Line line : lines.values()) {
        if (!alone.containsKey(line.key())) {
          entries.put(line.key(), line.value());
        }
      }
      return entries;
    }

    boolean isDone() {
      return together.isDone() && alone.values().stream().allMatch(CompletableFuture::isDone);
    }

    long lastLine() {
      return lines.values().stream().mapToLong(Line::number).max().orElse(0);
    }

    /** The range of lines in words. */
    String text() {
      final long first = lines.values().stream().mapToLong(Line::number).min().orElse(0);
      return "lines " + first + " to " + lastLine();
    }
  }

  /**
   * Creates it.
   *
   * @param opening opens the index, and creates it if there is none: before the first entry, or at
   *     the end of a file without one. A file that is wrong from the start so leaves no index.
   * @param maxBad limit of bad lines, after which it gives up.
   * @param ttl time to live of all entries; null to use their own deadlines.
   */
  Load(
      EntryFile file,
      Supplier<AsyncIndex<ByteString, ByteString>> opening,
      Stdio stdio,
      long maxBad,
      Duration ttl) {
    this.ttl = ttl;
    this.file = file;
    this.opening = opening;
    this.stdio = stdio;
    this.maxBad = maxBad;
  }

  /** Entries written so far. */
  long loaded() {
    return loaded;
  }

  /** Lines skipped so far. */
  long bad() {
    return bad;
  }

  /** Entries so far that were not written because their deadlines had passed. */
  long ended() {
    return ended;
  }

  double seconds() {
    return (System.nanoTime() - beginNs) / 1e9;
  }

  /** Writes all, until the end of the file or the signal. */
  void run(EntryReader reader, StopSignal stop, boolean quiet) throws IOException {
    try (LoadProgress progress = progress(quiet)) {
      while (!stop.isRequested()) {
        if (filling.isFull() || (filling.read > 0 && isIdle() && file.isDry())) {
          send();
          progress.at(file.bytesRead(), Printable.entries(loaded));
        }
        final Line line = next(reader);
        if (line == null) {
          break;
        }
        if (line.isBad()) {
          report(line, line.problem());
        } else if (ttl == null && line.hasEnded()) {
          ended++;
        } else {
          filling.add(line);
        }
      }
      send();
      await();
      if (bad == 0) {
        open();
      }
      progress.at(file.bytesRead(), Printable.entries(loaded));
    }
    if (bad > REPORTED) {
      stdio.note(file.name() + ": " + Printable.number(bad - REPORTED) + " more bad lines");
    }
  }

  private LoadProgress progress(boolean quiet) {
    return !quiet && stdio.terminals().errors() && file.size() > 0
        ? LoadProgress.ofBytes("load", file.size(), stdio)
        : LoadProgress.none();
  }

  /** Whether no batch is being written. */
  private boolean isIdle() {
    return sent == null || sent.isDone();
  }

  /** The next line. If reading fails, the lines before are written first. */
  private Line next(EntryReader reader) throws IOException {
    try {
      return reader.next();
    } catch (InterruptedIOException e) {
      return null; // the signal
    } catch (CommandFailure | IOException e) {
      send();
      await();
      throw e;
    }
  }

  private void report(Line line, String problem) {
    bad++;
    if (bad <= REPORTED) {
      stdio.note(file.name() + ":" + line.number() + ": " + problem);
    }
    if (bad > maxBad) {
      final CommandFailure failure =
          new CommandFailure(
              ExitCode.FAILED,
              "gave up at line "
                  + line.number()
                  + " of "
                  + file.name()
                  + ": "
                  + Printable.count(bad, "bad line", "bad lines"));
      send();
      await();
      throw failure;
    }
  }

  /** Sends the batch that was read, after the batch before it is written. */
  private void send() {
    await();
    if (filling.read > 0) {
      open();
      sent = filling;
      filling = new Batch();
      for (final Line line : sent.lines.values()) {
        if (ttl == null && line.deadline().isPresent()) {
          sent.alone.put(line.key(), put(line));
        }
      }
      final Map<ByteString, ByteString> entries = sent.entries();
      sent.together = ttl == null ? index.putAll(entries) : index.putAll(entries, ttl);
    }
  }

  /** Opens the index, if it is not open yet. */
  void open() {
    index = index == null ? opening.get() : index;
  }

  /** Writes one entry, with the rest of its time to live if it has a deadline. */
  private CompletableFuture<Long> put(Line line) {
    if (ttl == null && line.deadline().isEmpty()) {
      return index.put(line.key(), line.value());
    }
    return index.put(line.key(), line.value(), ttl == null ? line.timeLeft() : ttl);
  }

  private void await() {
    if (sent == null) {
      return;
    }
    final Batch batch = sent;
    sent = null;
    final Map<ByteString, Status> refusals = refusals(batch);
    loaded += batch.read - refusals.size();
    Status full = null;
    for (final Line line : batch.lines.values()) {
      final Status refused = refusals.get(line.key());
      if (refused != null) {
        full = refused.getCode() == Status.Code.RESOURCE_EXHAUSTED ? refused : full;
        report(line, refused.getDescription());
      }
    }
    if (full != null) {
      throw new CommandFailure(
          ExitCode.FAILED,
          file.name()
              + ": gave up at line "
              + batch.lastLine()
              + ": the server is at a limit: "
              + full.getDescription());
    }
  }

  /** Waits for the answers of a batch; returns the statuses of the keys that were not written. */
  private Map<ByteString, Status> refusals(Batch batch) {
    final Map<ByteString, Status> refusals = new HashMap<>();
    final IndexException some = refusal(batch, batch.together);
    if (some != null && some.refusals().isEmpty()) { // the call was refused as a whole
      batch.entries().keySet().forEach(key -> refusals.put(key, status(some)));
    } else if (some != null) {
      refusals.putAll(some.refusals());
    }
    batch.alone.forEach(
        (key, outcome) -> {
          final IndexException refused = refusal(batch, outcome);
          if (refused != null) {
            refusals.put(key, status(refused));
          }
        });
    return refusals;
  }

  private static Status status(IndexException refused) {
    return refused.code().toStatus().withDescription(refused.description());
  }

  /**
   * The refusal of entries; null if they were written.
   *
   * @throws CommandFailure if the server is lost.
   */
  private IndexException refusal(Batch batch, CompletableFuture<?> outcome) {
    try {
      outcome.join();
      return null;
    } catch (CompletionException e) {
      if (!(e.getCause() instanceof IndexException refused)) {
        throw e;
      }
      if (refused.isOutcomeUnknown()
          || refused instanceof OverloadedException
          || !isOfEntries(refused.code())
          || !refused.refusals().values().stream().allMatch(s -> isOfEntries(s.getCode()))) {
        throw lost(batch, refused);
      }
      return refused;
    }
  }

  /** Whether the failure concerns the entries, not the server. */
  private static boolean isOfEntries(Status.Code code) {
    return code == Status.Code.RESOURCE_EXHAUSTED || code == Status.Code.INVALID_ARGUMENT;
  }

  /** The failure of a load whose server is lost: names the line at which to load again. */
  private CommandFailure lost(Batch batch, IndexException cause) {
    final FailureReport report = FailureReport.of(cause, "the server", "the timeout");
    return new CommandFailure(
        report.exitCode(),
        file.name()
            + ": "
            + batch.text()
            + " may be loaded or not, what follows is not: "
            + report.line(),
        cause);
  }
}
