package dev.ringfetch.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.IndexServer;
import dev.ringfetch.index.client.Codec;
import dev.ringfetch.index.client.IndexClient;
import dev.ringfetch.index.client.IndexEntry;
import dev.ringfetch.index.client.IndexException;
import dev.ringfetch.index.service.IndexMemory;
import dev.ringfetch.index.service.Indexes;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import io.grpc.protobuf.services.HealthStatusManager;
import java.io.IOException;
import java.io.Serializable;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.cache.Cache;
import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.CacheEvict;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.CachingConfigurer;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.concurrent.ConcurrentMapCacheManager;
import org.springframework.cache.interceptor.CacheErrorHandler;
import org.springframework.cache.interceptor.LoggingCacheErrorHandler;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.session.MapSession;
import org.springframework.session.SessionRepository;

/** Caches and sessions of Spring Boot in an index, by properties alone. */
@Tag("frameworks")
@Timeout(120)
final class SpringIndexTest {
  private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(60);
  private static final long MEMORY = 64L << 20;

  private final List<ConfigurableApplicationContext> contexts = new ArrayList<>();
  private Indexes indexes;
  private Server server;
  private IndexClient client;

  @BeforeEach
  void start() throws IOException {
    indexes = new Indexes(IndexMemory.ofProcess(MEMORY));
    server =
        IndexServer.addServices(ServerBuilder.forPort(0), indexes, new HealthStatusManager())
            .build()
            .start();
    client = IndexClient.connect("localhost:" + server.getPort());
  }

  @AfterEach
  void stop() {
    contexts.forEach(ConfigurableApplicationContext::close);
    client.close();
    server.shutdownNow();
    indexes.close();
  }

  private ConfigurableApplicationContext run(Class<?> application, String... properties) {
    final ConfigurableApplicationContext context =
        new SpringApplicationBuilder(application)
            .web(WebApplicationType.NONE)
            .properties("spring.main.banner-mode=off", "spring.grpc.server.enabled=false")
            .properties("ringfetch.index.target=localhost:" + server.getPort())
            .properties(properties)
            .run();
    contexts.add(context);
    return context;
  }

  private ConfigurableApplicationContext runCaches(String... properties) {
    final String[] all = List.of(properties).toArray(new String[properties.length + 1]);
    all[properties.length] = "ringfetch.index.cache.enabled=true";
    return run(CachingApplication.class, all);
  }

  private static Cache cache(ConfigurableApplicationContext context, String name) {
    return Objects.requireNonNull(context.getBean(CacheManager.class).getCache(name));
  }

  private static @Nullable Object value(Cache cache, Object key) {
    final Cache.ValueWrapper found = cache.get(key);
    return found == null ? "absent" : found.get();
  }

  private static void await(String what, BooleanSupplier holds) throws InterruptedException {
    final long startNs = System.nanoTime();
    while (!holds.getAsBoolean()) {
      assertTrue(System.nanoTime() - startNs < DEADLINE_NS, what);
      Thread.sleep(5);
    }
  }

  /** Another request ends the session, or changes it, while this one gives it a new id. */
  @Test
  void aNewIdRevivesNoSessionAndLosesNoChange() {
    final AtomicReference<Runnable> meanwhile = new AtomicReference<>(() -> {});
    final Codec<MapSession> plain = new SerializedCodec<>();
    final Codec<MapSession> codec =
        new Codec<>() {
          @Override
          public ByteString encode(MapSession session) {
            meanwhile.getAndSet(() -> {}).run();
            return plain.encode(session);
          }

          @Override
          public MapSession decode(ByteString bytes) {
            return plain.decode(bytes);
          }
        };
    final IndexSessionRepository store =
        new IndexSessionRepository(client, "moved", Duration.ofMinutes(1), codec);
    final String removed = stored(store);
    final IndexSession revived = Objects.requireNonNull(store.findById(removed));
    revived.changeSessionId();
    meanwhile.set(() -> store.deleteById(removed));
    assertThrows(IllegalStateException.class, () -> store.save(revived));
    assertNull(store.findById(removed));
    assertNull(store.findById(revived.getId()));

    final String changed = stored(store);
    final IndexSession moved = Objects.requireNonNull(store.findById(changed));
    moved.changeSessionId();
    meanwhile.set(
        () -> {
          final IndexSession other = Objects.requireNonNull(store.findById(changed));
          other.setAttribute("cart", "full");
          store.save(other);
        });
    store.save(moved);
    assertNull(store.findById(changed));
    final IndexSession found = Objects.requireNonNull(store.findById(moved.getId()));
    assertEquals("full", found.getAttribute("cart"));
  }

  private static String stored(IndexSessionRepository store) {
    final IndexSession session = store.createSession();
    store.save(session);
    return session.getId();
  }

  /** It would wait for itself. */
  @Test
  void aLoaderThatAsksForItsOwnKeyFails() {
    final IndexCache cache =
        new IndexCache(
            "own", client.hash("own", Codec.string(), new SerializedCodec<>()), null, true);
    final Cache.ValueRetrievalException e =
        assertThrows(
            Cache.ValueRetrievalException.class,
            () -> cache.get("k", () -> cache.get("k", () -> "value")));
    assertTrue(e.getCause().getMessage().contains("same key"), e.getCause().getMessage());
    assertEquals("value", cache.get("k", () -> "value"), "nothing is left of the failed load");
  }

  @Test
  void annotatedMethodsOfTwoApplicationsShareACache() {
    final Prices first = runCaches().getBean(Prices.class);
    final Prices second = runCaches().getBean(Prices.class);

    final Price price = first.of("pen", 3);
    assertEquals(new Price("pen", 3, 1), price);
    assertEquals(price, second.of("pen", 3), "what the first one has cached");
    assertEquals(0, second.computations());
    assertEquals(new Price("pen", 4, 1), second.of("pen", 4), "another key");
    assertEquals(List.of("cache.prices"), named("cache."));

    second.forget("pen", 3);
    assertEquals(new Price("pen", 3, 2), first.of("pen", 3));
    second.forgetAll();
    assertEquals(new Price("pen", 3, 3), first.of("pen", 3));
  }

  private List<String> named(String prefix) {
    return client.indexes().stream().filter(name -> name.startsWith(prefix)).toList();
  }

  @Test
  void aMethodWhoseCacheCannotBeReachedFailsOrRunsWithoutIt() {
    final Prices failing = runCaches().getBean(Prices.class);
    final Prices forgiving =
        run(ForgivingApplication.class, "ringfetch.index.cache.enabled=true").getBean(Prices.class);
    failing.of("pen", 1);
    forgiving.of("pen", 1);
    server.shutdownNow();
    assertThrows(IndexException.class, () -> failing.of("pen", 1));
    assertEquals(0, forgiving.computations());
    assertEquals(new Price("pen", 1, 1), forgiving.of("pen", 1));
    assertEquals(1, forgiving.computations());
  }

  @Test
  void nullIsCachedUnlessAPropertyForbidsIt() {
    final Prices prices = runCaches().getBean(Prices.class);
    assertNull(prices.of("nothing", 1));
    assertNull(prices.of("nothing", 1));
    assertEquals(1, prices.computations());

    final Cache strict = cache(runCaches("ringfetch.index.cache.null-values=false"), "strict");
    assertThrows(IllegalArgumentException.class, () -> strict.put("key", null));
    assertEquals("absent", value(strict, "key"));
  }

  @Test
  void entriesEndByTheTimeToLiveOfTheirCache() throws Exception {
    final var context =
        runCaches(
            "ringfetch.index.cache.prefix=orders.",
            "ringfetch.index.cache.time-to-live=1h",
            "ringfetch.index.cache.time-to-lives.brief=50ms");
    final Cache brief = cache(context, "brief");
    final Cache usual = cache(context, "usual");
    final Instant before = Instant.now();
    brief.put("key", 1L);
    usual.put("key", 2L);
    assertNull(usual.putIfAbsent("other", 3L));

    await("the entry ends", () -> brief.get("key") == null);
    assertEquals(2L, value(usual, "key"));
    final var entries =
        client.hash("orders.usual", Codec.string(), Codec.byteString()).scan().toList();
    assertEquals(2, entries.size());
    for (final IndexEntry<String, ?> entry : entries) {
      final Duration left = Duration.between(before, entry.deadline().orElseThrow());
      assertTrue(left.compareTo(Duration.ofMinutes(59)) > 0, () -> entry.key() + " has " + left);
    }
  }

  @Test
  void operationsOfACache() {
    final var context = runCaches();
    final Cache cache = cache(context, "things");
    assertEquals("things", cache.getName());

    assertNull(cache.putIfAbsent("a", 1), "none before");
    assertEquals(1, Objects.requireNonNull(cache.putIfAbsent("a", 2)).get());
    assertEquals(1, value(cache, "a"), "and it stays");
    assertNull(cache.putIfAbsent("null", null));
    final Cache.ValueWrapper present = cache.putIfAbsent("null", 5);
    assertNotNull(present, "a null is a value");
    assertNull(present.get());

    assertEquals(1, cache.get("a", Integer.class));
    assertThrows(IllegalStateException.class, () -> cache.get("a", String.class));
    assertTrue(cache.evictIfPresent("a"));
    assertFalse(cache.evictIfPresent("a"));
    assertEquals("absent", value(cache, "a"));

    cache.put(7L, "of a number");
    assertEquals("of a number", value(cache, 7L));
    final Object nameless = new Object();
    assertThrows(IllegalArgumentException.class, () -> cache.put(nameless, 1));
    assertThrows(IllegalArgumentException.class, () -> cache.put("thread", new Thread()));
  }

  @Test
  void clearRemovesAllEntriesAndKeepsTheIndex() {
    final Cache cache = cache(runCaches(), "many");
    assertFalse(cache.invalidate(), "no index yet");
    for (int i = 0; i < 1_000; i++) {
      cache.put("key " + i, i);
    }
    final long incarnation = incarnation("cache.many");
    assertTrue(cache.invalidate());
    assertEquals(0, client.hash("cache.many", Codec.string(), Codec.byteString()).count());
    assertEquals(incarnation, incarnation("cache.many"));
    assertFalse(cache.invalidate());
  }

  private long incarnation(String index) {
    return client.describe(index).orElseThrow().getIncarnation();
  }

  @Test
  void oneOfSeveralCallersLoads() throws Exception {
    final Cache cache = cache(runCaches(), "loaded");
    final AtomicInteger loads = new AtomicInteger();
    final CountDownLatch loading = new CountDownLatch(1);
    final CountDownLatch go = new CountDownLatch(1);
    final List<CompletableFuture<Integer>> callers = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      callers.add(
          CompletableFuture.supplyAsync(
              () ->
                  cache.get(
                      "key",
                      () -> {
                        loading.countDown();
                        go.await();
                        return loads.incrementAndGet();
                      }),
              task -> new Thread(task).start()));
    }
    assertTrue(loading.await(60, TimeUnit.SECONDS));
    final CompletableFuture<Integer> later =
        cache.retrieve("key", () -> CompletableFuture.completedFuture(loads.incrementAndGet()));
    go.countDown();
    for (final CompletableFuture<Integer> caller : callers) {
      assertEquals(1, caller.get(60, TimeUnit.SECONDS));
    }
    assertEquals(1, later.get(60, TimeUnit.SECONDS));
    assertEquals(1, value(cache, "key"));

    final var failure =
        assertThrows(
            Cache.ValueRetrievalException.class,
            () ->
                cache.get(
                    "fails",
                    () -> {
                      throw new IOException("of the test");
                    }));
    assertEquals("of the test", Objects.requireNonNull(failure.getCause()).getMessage());
    assertEquals(2, cache.get("fails", () -> 2), "a failure is not kept");
  }

  @Test
  void futuresOfACache() throws Exception {
    final Cache cache = cache(runCaches(), "later");
    assertNull(retrieved(cache, "key"), "absent");
    final CompletableFuture<String> value = new CompletableFuture<>();
    final CompletableFuture<String> loaded = cache.retrieve("key", () -> value);
    assertFalse(loaded.isDone());
    value.complete("of a future");
    assertEquals("of a future", loaded.get(60, TimeUnit.SECONDS));
    assertEquals("of a future", retrieved(cache, "key").get());
    assertEquals(
        "of a future",
        cache
            .retrieve("key", () -> CompletableFuture.completedFuture("another"))
            .get(60, TimeUnit.SECONDS));
    cache.put("null", null);
    assertNull(retrieved(cache, "null").get(), "a null that is there");
  }

  private static Cache.ValueWrapper retrieved(Cache cache, String key) throws Exception {
    return (Cache.ValueWrapper)
        Objects.requireNonNull(cache.retrieve(key)).get(60, TimeUnit.SECONDS);
  }

  @Test
  void aCodecOfTheApplicationMakesTheValues() {
    @SuppressWarnings({"unchecked", "rawtypes"}) // values of this cache are strings
    final Codec<Object> text = (Codec) Codec.string();
    final IndexCacheManager manager = new IndexCacheManager(client, text);
    final Cache cache = Objects.requireNonNull(manager.getCache("texts"));
    cache.put("key", "value");
    assertEquals("value", value(cache, "key"));
    assertEquals(
        "value",
        client.hash("cache.texts", Codec.string(), Codec.string()).get("key").orElseThrow());
    cache.put("none", null);
    assertNull(value(cache, "none"));
    assertThrows(IllegalArgumentException.class, () -> cache.put("empty", ""), "it is null's");
    manager.nullValues(false);
    final Cache strict = Objects.requireNonNull(manager.getCache("without nulls"));
    strict.put("empty", "");
    assertEquals("", value(strict, "empty"));
  }

  @Test
  void withoutThePropertiesOrBesideOwnBeansThereIsNoCacheOfOurs() {
    final var plain = run(PlainApplication.class);
    assertNotNull(plain.getBean(IndexClient.class));
    assertEquals(0, plain.getBeanNamesForType(CacheManager.class).length);
    assertEquals(0, plain.getBeanNamesForType(SessionRepository.class).length);

    final var own = run(OwnManagerApplication.class, "ringfetch.index.cache.enabled=true");
    assertEquals(ConcurrentMapCacheManager.class, own.getBean(CacheManager.class).getClass());
  }

  private IndexSessionRepository runSessions(String... properties) {
    final String[] all = List.of(properties).toArray(new String[properties.length + 1]);
    all[properties.length] = "ringfetch.index.session.enabled=true";
    return run(PlainApplication.class, all).getBean(IndexSessionRepository.class);
  }

  private static IndexSession found(IndexSessionRepository sessions, String id) {
    final IndexSession session = sessions.findById(id);
    assertNotNull(session, id);
    return session;
  }

  @Test
  void aSessionSurvivesTheRestartOfItsApplication() {
    final IndexSessionRepository before = runSessions("spring.session.timeout=10m");
    final IndexSession session = before.createSession();
    assertNull(before.findById(session.getId()), "not saved yet");
    session.setAttribute("user", new Price("ada", 1, 2));
    before.save(session);
    contexts.remove(0).close();

    final IndexSession later = found(runSessions(), session.getId());
    assertEquals(new Price("ada", 1, 2), later.getAttribute("user"));
    assertEquals(Duration.ofMinutes(10), later.getMaxInactiveInterval());
    assertEquals(session.getCreationTime(), later.getCreationTime());
    assertFalse(later.isExpired());
  }

  @Test
  void requestsOfOneSessionKeepEachOthersAttributes() {
    final IndexSessionRepository sessions = runSessions();
    final IndexSession created = sessions.createSession();
    created.setAttribute("kept", 1);
    created.setAttribute("removed", 2);
    sessions.save(created);

    final IndexSession first = found(sessions, created.getId());
    final IndexSession second = found(sessions, created.getId());
    first.setAttribute("of the first", 3);
    first.removeAttribute("removed");
    second.setAttribute("of the second", 4);
    sessions.save(first);
    sessions.save(second);

    final IndexSession both = found(sessions, created.getId());
    assertEquals(Set.of("kept", "of the first", "of the second"), both.getAttributeNames());
    assertEquals(Integer.valueOf(1), both.getAttribute("kept"));
  }

  @Test
  void aRequestProlongsASessionAndNoneBringsARemovedOneBack() {
    final IndexSessionRepository sessions = runSessions();
    final IndexSession created = sessions.createSession();
    sessions.save(created);
    final IndexEntry<String, ?> stored = entry(created.getId());

    final IndexSession soon = found(sessions, created.getId());
    soon.setLastAccessedTime(soon.getLastAccessedTime().plusSeconds(59));
    sessions.save(soon);
    assertEquals(stored.version(), entry(created.getId()).version(), "less than a thirtieth");
    soon.setLastAccessedTime(soon.getLastAccessedTime().plusSeconds(1));
    sessions.save(soon);
    final IndexEntry<String, ?> touched = entry(created.getId());
    assertNotEquals(stored.version(), touched.version());
    assertEquals(
        touched.deadline().orElseThrow().minus(Duration.ofMinutes(30)),
        found(sessions, created.getId()).getLastAccessedTime());

    final IndexSession late = found(sessions, created.getId());
    sessions.deleteById(created.getId());
    assertNull(sessions.findById(created.getId()));
    late.setLastAccessedTime(late.getLastAccessedTime().plusSeconds(120));
    assertThrows(IllegalStateException.class, () -> sessions.save(late), "by a touch");
    late.setAttribute("name", 1);
    assertThrows(IllegalStateException.class, () -> sessions.save(late), "by a change");
    late.changeSessionId();
    assertThrows(IllegalStateException.class, () -> sessions.save(late), "by another identifier");
    assertEquals(0, client.hash("sessions", Codec.string(), Codec.byteString()).count());
  }

  private IndexEntry<String, ?> entry(String id) {
    return client.hash("sessions", Codec.string(), Codec.byteString()).getEntry(id).orElseThrow();
  }

  @Test
  void aSessionEndsByItsIntervalOrNever() throws Exception {
    final IndexSessionRepository sessions = runSessions("spring.session.timeout=50ms");
    final IndexSession brief = sessions.createSession();
    sessions.save(brief);
    await("it ends", () -> sessions.findById(brief.getId()) == null);

    final IndexSession endless = sessions.createSession();
    endless.setMaxInactiveInterval(Duration.ofSeconds(-1));
    sessions.save(endless);
    final Instant end = entry(endless.getId()).deadline().orElseThrow();
    assertTrue(end.isAfter(Instant.now().plus(Duration.ofDays(3_649))), end::toString);
    final IndexSession found = found(sessions, endless.getId());
    assertFalse(found.isExpired());
    found.setMaxInactiveInterval(Duration.ZERO);
    sessions.save(found);
    assertNull(sessions.findById(endless.getId()));
  }

  @Test
  void aSessionMovesToItsNewIdentifier() {
    final IndexSessionRepository sessions = runSessions("ringfetch.index.session.index=web");
    final IndexSession created = sessions.createSession();
    created.setAttribute("name", 1);
    sessions.save(created);
    final String before = created.getId();
    final IndexSession session = found(sessions, before);
    final String after = session.changeSessionId();
    assertNotEquals(before, after);
    sessions.save(session);
    assertNull(sessions.findById(before));
    assertEquals(Integer.valueOf(1), found(sessions, after).getAttribute("name"));
    session.setAttribute("name", 2);
    sessions.save(session);
    assertEquals(Integer.valueOf(2), found(sessions, after).getAttribute("name"));
    assertEquals(List.of("web"), named("web"));
  }

  record Price(String thing, int count, int computation) implements Serializable {}

  /** Computes prices, and counts how often. */
  static class Prices {
    private final AtomicInteger computed = new AtomicInteger();

    public int computations() {
      return computed.get();
    }

    @Cacheable("prices")
    public @Nullable Price of(String thing, int count) {
      final int computation = computed.incrementAndGet();
      return thing.equals("nothing") ? null : new Price(thing, count, computation);
    }

    @CacheEvict("prices")
    public void forget(String thing, int count) {}

    @CacheEvict(value = "prices", allEntries = true)
    public void forgetAll() {}
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class PlainApplication {}

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  @EnableCaching
  static class CachingApplication {
    @Bean
    Prices prices() {
      return new Prices();
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  @EnableCaching
  static class ForgivingApplication implements CachingConfigurer {
    @Bean
    Prices prices() {
      return new Prices();
    }

    @Override
    public CacheErrorHandler errorHandler() {
      return new LoggingCacheErrorHandler();
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class OwnManagerApplication {
    @Bean
    CacheManager own() {
      return new ConcurrentMapCacheManager();
    }
  }
}
