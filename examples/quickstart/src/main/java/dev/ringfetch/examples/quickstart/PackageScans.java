package dev.ringfetch.examples.quickstart;

import com.google.protobuf.ByteString;
import dev.ringfetch.examples.load.Figures;
import dev.ringfetch.examples.load.Stopwatch;
import dev.ringfetch.index.direct.DirectReader;
import dev.ringfetch.index.direct.DirectScan;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.KeyRange;
import dev.ringfetch.index.v1.ScanRequest;
import dev.ringfetch.index.v1.ScanResponse;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Supplier;

/**
 * Scans of one package in the ordered index, by calls and directly, and what they have to find. May
 * be used by many threads.
 */
final class PackageScans {
  /** What the keys of the package's classes, and of the packages within, begin with. */
  static final String PREFIX = "java.util.concurrent.";

  private static final ScanRequest REQUEST =
      ScanRequest.newBuilder()
          .setIndex(DemoClient.ORDERED)
          .setRange(KeyRange.newBuilder().setPrefix(ByteString.copyFromUtf8(PREFIX)))
          .build();

  private final DemoClient client;
  private final List<ClassImage.Location> expected;

  /**
   * Creates it.
   *
   * @param suffix of the values, as they were loaded.
   */
  PackageScans(DemoClient client, List<ClassImage.Location> classes, String suffix) {
    this.client = client;
    this.expected =
        classes.stream()
            .filter(location -> location.key().startsWith(REQUEST.getRange().getPrefix()))
            .map(
                location ->
                    new ClassImage.Location(location.key(), DemoClient.value(location, suffix)))
            .sorted(
                Comparator.comparing(
                    ClassImage.Location::key, ByteString.unsignedLexicographicalComparator()))
            .toList();
  }

  /** The number of classes. */
  int size() {
    return expected.size();
  }

  /** Reads the package by calls, a page each. */
  List<ClassImage.Location> byCalls() {
    final List<ClassImage.Location> found = new ArrayList<>(expected.size());
    ScanRequest next = REQUEST;
    while (next != null) {
      final ScanResponse page = client.scanPage(next);
      for (final Entry entry : page.getEntriesList()) {
        found.add(new ClassImage.Location(entry.getKey(), entry.getValue()));
      }
      next =
          page.getNextPageToken().isEmpty()
              ? null
              : next.toBuilder().setPageToken(page.getNextPageToken()).build();
    }
    return found;
  }

  /** Reads the package out of memory, and by calls where the reader has no grant. */
  List<ClassImage.Location> directly(DirectReader reader) {
    final List<ClassImage.Location> found = new ArrayList<>(expected.size());
    final DirectScan scan = new DirectScan(REQUEST);
    reader.scan(scan, entry -> found.add(new ClassImage.Location(entry.key(), entry.value())));
    return found;
  }

  /** How many entries are missing, wrong, too many, or not in their place. */
  long mismatches(List<ClassImage.Location> found) {
    long mismatches = Math.abs(found.size() - expected.size());
    for (int i = 0; i < Math.min(found.size(), expected.size()); i++) {
      mismatches += found.get(i).equals(expected.get(i)) ? 0 : 1;
    }
    return mismatches;
  }

  /** Times scans of the whole package, one after the other. */
  Figures measure(Supplier<List<ClassImage.Location>> scan, long scans, long ms) {
    final Runnable counted =
        () -> {
          final int found = scan.get().size();
          if (found != expected.size()) {
            throw new IllegalStateException("entries=" + found + " of=" + expected.size());
          }
        };
    return new Stopwatch().run(counted, scans, ms);
  }

  /** The answer of a scan while the server is killed and replaced. */
  OutageReads.Answer next(DirectReader reader) {
    final List<ClassImage.Location> found = directly(reader);
    if (found.isEmpty()) {
      return OutageReads.Answer.ABSENT;
    }
    return mismatches(found) == 0 ? OutageReads.Answer.RIGHT : OutageReads.Answer.WRONG;
  }
}
