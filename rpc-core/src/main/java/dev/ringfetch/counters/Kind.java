package dev.ringfetch.counters;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What has counters. */
public enum Kind {
  /** A channel, which chooses between ring and gRPC for each call. */
  CHANNEL(1, "channel"),
  /** A server of a channel, as its load-balancing policy sees it. */
  BACKEND(5, "backend"),
  /** A server with its port and its rings. */
  SERVER(2, "server"),
  /** One side of a session, and its ends of the session's two rings. */
  SESSION(3, "session"),
  /** A polling thread. */
  POLLER(4, "poller");

  private final int code;
  private final String label;

  Kind(int code, String label) {
    this.code = code;
    this.label = label;
  }

  /** What stands for it in the file. */
  int code() {
    return code;
  }

  /** The kind of a code, or null. */
  static Kind of(int code) {
    for (final Kind kind : values()) {
      if (kind.code == code) {
        return kind;
      }
    }
    return null;
  }

  /** Name of one of them. */
  public String label() {
    return label;
  }

  /** Name of all of them together. */
  public String plural() {
    return label + "s";
  }

  /** What is counted of one, in the order of {@link Counter#index()}. */
  public List<Counter> counters() {
    return Lists.BY_KIND.get(this);
  }

  /** Apart: the two lists name each other. */
  private static final class Lists {
    static final Map<Kind, List<Counter>> BY_KIND =
        Stream.of(Counter.values()).collect(Collectors.groupingBy(Counter::kind));
  }
}
