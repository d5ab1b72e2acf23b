package dev.ringfetch.spring;

import dev.ringfetch.counters.Kind;
import dev.ringfetch.counters.Subject;
import java.util.stream.Collectors;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;

/**
 * The health contributor {@code ringfetch}: lists the transport of each backend, and why. It is
 * always up, because calls without a ring go over gRPC.
 */
final class RingfetchHealthIndicator implements HealthIndicator {
  @Override
  public Health health() {
    return Health.up()
        .withDetails(
            RingfetchEndpoint.subjects()
                .filter(subject -> subject.kind() == Kind.BACKEND)
                .collect(
                    Collectors.toMap(
                        subject -> subject.label() + " #" + subject.serial(), Subject::detail)))
        .build();
  }
}
