package dev.ringfetch.index.cli;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.cli.EntryReader.Line;
import dev.ringfetch.index.client.AsyncIndex;
import dev.ringfetch.index.client.FullException;
import dev.ringfetch.index.client.IndexException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * The writing of a file's entries in batches: while one is on its way, the next one is read. Two
 * lines with the same key are written in their order. Bad lines are reported and left out. Where
 * the input has nothing more for now, a pipe for example, what was read is written at once.
 *
 * <p>Where the server refuses entries, the batch is read back, which names the lines. Used by one
 * thread.
 */
final class Load {
  private static final int BATCH_ENTRIES = 500;
  private static final int BATCH_BYTES = 1 << 20;
  private static final long REPORTED = 20; // bad lines

  private final EntryFile file;
  private final AsyncIndex<ByteString, ByteString> index;
  private final Stdio stdio;
  private final long maxBad;
  private final Duration ttl;
  private final long beginNs = System.nanoTime();
  private Batch filling = new Batch();
  private Batch sent; // null: none
  private long loaded;
  private long bad;
  private long ended;

  /** Entries with the last line of each. */
  private static final class Batch {
    private final Map<ByteString, Line> lines = new LinkedHashMap<>();
    private long read; // lines, of which some may have the same key
    private long bytes;
    private CompletableFuture<Void> outcome;

    void add(Line line) {
      lines.remove(line.key()); // the last one is the last one to be written
      lines.put(line.key(), line);
      read++;
      bytes += line.key().size() + line.value().size();
    }

    boolean isFull() {
      return read >= BATCH_ENTRIES || bytes >= BATCH_BYTES;
    }

    Map<ByteString, ByteString> entries() {
      final Map<ByteString, ByteString> entries = new LinkedHashMap<>();
      lines.forEach((key, line) -> entries.put(key, line.value()));
      return entries;
    }

    /** The lines in words. */
    String text() {
      final long first = lines.values().stream().mapToLong(Line::number).min().orElse(0);
      final long last = lines.values().stream().mapToLong(Line::number).max().orElse(0);
      return "lines " + first + " to " + last;
    }
  }

  /**
   * Creates it.
   *
   * @param maxBad lines after which it gives up.
   * @param ttl how long entries are there; null: until their deadlines, or until they are removed.
   */
  Load(
      EntryFile file,
      AsyncIndex<ByteString, ByteString> index,
      Stdio stdio,
      long maxBad,
      Duration ttl) {
    this.ttl = ttl;
    this.file = file;
    this.index = index;
    this.stdio = stdio;
    this.maxBad = maxBad;
  }

  /** Entries written so far. */
  long loaded() {
    return loaded;
  }

  /** Lines so far that were left out. */
  long bad() {
    return bad;
  }

  /** Entries so far whose deadlines had come: they are not written. */
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

  /** Whether no batch is on its way. */
  private boolean isIdle() {
    return sent == null || sent.outcome.isDone();
  }

  /** The next line. If there is none for an error, those before it are written. */
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

  /** Sends what was read, after what was sent before is written. */
  private void send() {
    await();
    if (filling.read > 0) {
      sent = filling;
      filling = new Batch();
      sent.outcome = ttl == null ? put(sent) : index.putAll(sent.entries(), ttl);
    }
  }

  /** Writes the entries that have deadlines one by one, each for the time that is left of it. */
  private CompletableFuture<Void> put(Batch batch) {
    final Map<ByteString, ByteString> entries = new LinkedHashMap<>();
    final List<CompletableFuture<?>> outcomes = new ArrayList<>();
    for (final Line line : batch.lines.values()) {
      if (line.deadline().isEmpty()) {
        entries.put(line.key(), line.value());
      } else {
        outcomes.add(index.put(line.key(), line.value(), line.timeLeft()));
      }
    }
    if (!entries.isEmpty()) {
      outcomes.add(index.putAll(entries));
    }
    return CompletableFuture.allOf(outcomes.toArray(CompletableFuture[]::new));
  }

  private void await() {
    if (sent == null) {
      return;
    }
    final Batch batch = sent;
    sent = null;
    try {
      batch.outcome.join();
      loaded += batch.read;
    } catch (CompletionException e) {
      if (!(e.getCause() instanceof IndexException refused)) {
        throw e;
      }
      if (refused.isOutcomeUnknown() || !isOfEntries(refused)) {
        throw lost(batch, refused);
      }
      readBack(batch, refused);
    }
  }

  /** Whether it is about entries, and not about the server. */
  private static boolean isOfEntries(IndexException refused) {
    return switch (refused.code()) {
      case RESOURCE_EXHAUSTED -> refused instanceof FullException;
      case INVALID_ARGUMENT -> true;
      default -> false;
    };
  }

  /** Finds out which lines of a batch are written; gives up where the server is at a limit. */
  private void readBack(Batch batch, IndexException refused) {
    final Map<ByteString, ByteString> written;
    try {
      written = index.getAll(batch.lines.keySet()).join();
    } catch (CompletionException e) {
      throw e.getCause() instanceof IndexException failure ? lost(batch, failure) : e;
    }
    final String reason = refused.description().replaceFirst("; this is the first of .*", "");
    long last = 0;
    long refusals = 0;
    for (final Line line : batch.lines.values()) {
      last = Math.max(last, line.number());
      if (!line.value().equals(written.get(line.key()))) {
        refusals++;
        report(line, reason);
      }
    }
    loaded += batch.read - refusals;
    if (refused instanceof FullException) {
      throw new CommandFailure(
          ExitCode.FAILED,
          file.name() + ": gave up at line " + last + ": the server is at a limit: " + reason,
          refused);
    }
  }

  /** The failure of a load whose server is lost: it says from where on to load again. */
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
