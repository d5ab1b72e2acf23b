package dev.ringfetch.index.service;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.lang.System.Logger;
import java.text.MessageFormat;
import java.util.ArrayList;
import java.util.List;
import java.util.ResourceBundle;
import org.junit.jupiter.api.Test;

class DiskNoticeTest {
  private final List<String> lines = new ArrayList<>();
  private long nowNs;

  /** Keeps what it is told. */
  private final class Lines implements Logger {
    @Override
    public String getName() {
      return "lines";
    }

    @Override
    public boolean isLoggable(Level level) {
      return true;
    }

    @Override
    public void log(Level level, ResourceBundle bundle, String text, Throwable thrown) {
      lines.add(level + " " + text);
    }

    @Override
    public void log(Level level, ResourceBundle bundle, String format, Object... parameters) {
      lines.add(
          level + " " + (parameters == null ? format : MessageFormat.format(format, parameters)));
    }
  }

  @Test
  void aLineSaysThatTheDiskIsFullAndOneThatItHasRoom() {
    final DiskNotice notice = new DiskNotice(new Lines(), () -> nowNs, "/data/1");
    nowNs = 7_000_000_000L;
    notice.accept(new IOException("No space left on device: file=/data/1/journal-0000000002"));
    nowNs += 62_500_000_000L;
    notice.accept(null);
    assertEquals(
        List.of(
            "WARNING the disk is full, or refuses writes: what is on it takes no more writes when the"
                + " room left in the journal is used up; make room: data=/data/1: No space left on"
                + " device: file=/data/1/journal-0000000002",
            "INFO the disk has room again, after 62 s: data=/data/1"),
        lines);
  }

  @Test
  void aLineSaysThatTheQuotaIsExceededAndOneThatPutsGoOn() {
    final DiskNotice notice = new DiskNotice(new Lines(), () -> nowNs, "/data/1");
    notice.quota(new IOException("the data directory exceeds its quota: bytes=9"));
    notice.quota(null);
    assertEquals(
        List.of(
            "WARNING the data directory exceeds its quota: bytes=9: data=/data/1",
            "INFO the data directory is below its quota again, puts go on: data=/data/1"),
        lines);
  }
}
