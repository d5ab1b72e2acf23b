package dev.ringfetch.spring;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;

/** The properties {@code spring.grpc.server.ringfetch}. */
@ConfigurationProperties("spring.grpc.server.ringfetch")
public final class RingfetchGrpcServerProperties extends RingfetchGrpcClientProperties.Rings {
  private @Nullable Integer maxSessions;

  /** Returns the number of clients that have a ring at the same time. */
  public @Nullable Integer getMaxSessions() {
    return maxSessions;
  }

  /** Sets the number of clients that have a ring at the same time. */
  public void setMaxSessions(@Nullable Integer maxSessions) {
    this.maxSessions = maxSessions;
  }
}
