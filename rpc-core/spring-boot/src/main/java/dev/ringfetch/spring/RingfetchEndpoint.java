package dev.ringfetch.spring;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.counters.Counters;
import dev.ringfetch.counters.Kind;
import dev.ringfetch.counters.Subject;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;

/**
 * The Actuator endpoint {@code ringfetch}: each channel, backend and server of this process, with
 * the transport of its next call, the reason, and its counters.
 */
@Endpoint(id = "ringfetch")
public final class RingfetchEndpoint {
  private static final Set<Kind> KINDS = Set.of(Kind.CHANNEL, Kind.BACKEND, Kind.SERVER);

  RingfetchEndpoint() {}

  /** Returns what there is at present. */
  @ReadOperation
  public List<Entry> entries() {
    return subjects().map(Entry::of).toList();
  }

  /** Returns the channels, backends and servers that have or may have rings. */
  static Stream<Subject> subjects() {
    return Counters.ofThisProcess().stream()
        .flatMap(counters -> counters.subjects().stream())
        .filter(subject -> KINDS.contains(subject.kind()));
  }

  /**
   * One channel, backend or server.
   *
   * @param number by which a backend's detail names its channel.
   * @param detail of a backend: its channel, gRPC's state, the transport of its next call, and why.
   */
  public record Entry(
      String kind, long number, String name, String detail, Map<String, Long> counters) {
    private static Entry of(Subject subject) {
      final Map<String, Long> counters = new LinkedHashMap<>();
      for (final Counter counter : subject.kind().counters()) {
        counters.put(counter.label(), subject.value(counter));
      }
      return new Entry(
          subject.kind().label(), subject.serial(), subject.label(), subject.detail(), counters);
    }
  }
}
