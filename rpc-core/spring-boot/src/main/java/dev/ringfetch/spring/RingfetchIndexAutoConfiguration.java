package dev.ringfetch.spring;

import dev.ringfetch.index.client.IndexClient;
import java.time.Duration;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.PropertyMapper;
import org.springframework.cache.CacheManager;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.session.MapSession;
import org.springframework.session.SessionRepository;

/**
 * Auto-configuration of a client of an index server, and, where the properties say so, of caches
 * and sessions on it. It comes before Boot's own, which then takes its beans.
 */
@AutoConfiguration(
    beforeName = {
      "org.springframework.boot.cache.autoconfigure.CacheAutoConfiguration",
      "org.springframework.boot.session.autoconfigure.SessionAutoConfiguration"
    })
@ConditionalOnClass(IndexClient.class)
@EnableConfigurationProperties(RingfetchIndexProperties.class)
public final class RingfetchIndexAutoConfiguration {
  @Bean
  @ConditionalOnMissingBean
  @ConditionalOnProperty("ringfetch.index.target")
  IndexClient ringfetchIndexClient(RingfetchIndexProperties properties) {
    return IndexClient.connect(properties.target());
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnBooleanProperty("ringfetch.index.cache.enabled")
  static class CacheConfiguration {
    @Bean
    @ConditionalOnMissingBean(CacheManager.class)
    IndexCacheManager ringfetchCacheManager(
        IndexClient client, RingfetchIndexProperties properties) {
      final RingfetchIndexProperties.Caches caches = properties.cache();
      final IndexCacheManager manager =
          new IndexCacheManager(client)
              .prefix(caches.prefix())
              .nullValues(caches.nullValues())
              .access(caches.access());
      PropertyMapper.get().from(caches::timeToLive).to(manager::timeToLive);
      caches.timeToLives().forEach(manager::timeToLive);
      return manager;
    }
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(SessionRepository.class)
  @ConditionalOnBooleanProperty("ringfetch.index.session.enabled")
  static class SessionConfiguration {
    @Bean
    @ConditionalOnMissingBean(SessionRepository.class)
    IndexSessionRepository ringfetchSessionRepository(
        IndexClient client, RingfetchIndexProperties properties, Environment environment) {
      final Duration timeout =
          environment.getProperty(
              "spring.session.timeout", Duration.class, MapSession.DEFAULT_MAX_INACTIVE_INTERVAL);
      return new IndexSessionRepository(client, properties.session().index(), timeout);
    }
  }
}
