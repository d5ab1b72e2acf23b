package dev.ringfetch.spring;

import dev.ringfetch.micrometer.RingMetrics;
import io.micrometer.core.instrument.binder.MeterBinder;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Auto-configuration of the Actuator's view of rings: endpoint, health, and meters. */
@AutoConfiguration
public final class RingfetchActuatorAutoConfiguration {
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(Endpoint.class)
  static class EndpointConfiguration {
    @Bean
    @ConditionalOnMissingBean
    RingfetchEndpoint ringfetchEndpoint() {
      return new RingfetchEndpoint();
    }
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(HealthIndicator.class)
  static class HealthConfiguration {
    @Bean
    @ConditionalOnEnabledHealthIndicator("ringfetch")
    RingfetchHealthIndicator ringfetchHealthIndicator() {
      return new RingfetchHealthIndicator();
    }
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(MeterBinder.class)
  static class MetricsConfiguration {
    @Bean
    @ConditionalOnMissingBean
    RingMetrics ringfetchMetrics() {
      return new RingMetrics();
    }
  }
}
