package dev.ringfetch.session;

import static dev.ringfetch.session.SessionSteps.bytes;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.ring.ArenaDescriptor;
import dev.ringfetch.session.ClientStream.Outcome;
import dev.ringfetch.session.SessionSteps.Call;
import dev.ringfetch.session.SessionSteps.Sizes;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * No wake-up is lost: whatever one side does just before any ordered access of the other, all calls
 * end without another push. Each action is tried against each other one, at every access.
 */
@Timeout(120)
class SessionWakeupTest {
  private static final class Scene {
    final InterleavedRegion region;
    final SessionSteps steps;
    final List<Call> calls = new ArrayList<>();

    Scene(Sizes sizes) {
      region =
          new InterleavedRegion(ArenaDescriptor.length(sizes.ringLength(), sizes.ringLength()));
      steps = new SessionSteps(sizes, region);
    }

    void send() {
      final Call call = steps.prepare(bytes(30, 1), Stream.NO_DEADLINE);
      if (call != null) {
        calls.add(call);
        steps.client.send(call.stream);
      }
    }

    void respond() {
      if (!steps.requests.isEmpty()) {
        steps.requests.remove(0).echo();
      }
    }
  }

  /** The actors: two actions of one single-threaded actor never interleave. */
  private enum Actor {
    CLIENT_THREAD,
    CLIENT_POLLER,
    HANDLER,
    SERVER_POLLER
  }

  @SuppressWarnings("ImmutableEnumChecker")
  private enum Action {
    SEND(Actor.CLIENT_THREAD, Scene::send),
    CANCEL(Actor.CLIENT_THREAD, scene -> scene.calls.forEach(Call::cancel)),
    SEND_AND_POLL(
        Actor.CLIENT_THREAD,
        scene -> {
          final Call call = scene.steps.prepare(bytes(30, 1), Stream.NO_DEADLINE);
          if (call != null) {
            scene.calls.add(call);
            scene.steps.client.sendAndPoll(call.stream);
          }
        }),
    CLIENT_STEP(Actor.CLIENT_POLLER, scene -> scene.steps.stepClient()),
    CLIENT_STEPS(
        Actor.CLIENT_POLLER,
        scene -> {
          scene.steps.stepClient();
          scene.steps.stepClient();
        }),
    SERVER_STEP(Actor.SERVER_POLLER, scene -> scene.steps.stepServer()),
    SERVER_STEPS(
        Actor.SERVER_POLLER,
        scene -> {
          scene.steps.stepServer();
          scene.steps.stepServer();
        }),
    RESPOND(Actor.HANDLER, Scene::respond),
    RESPOND_ALL(
        Actor.HANDLER,
        scene -> {
          for (int i = 0; i < 8; i++) {
            scene.respond();
          }
        }),
    SERVE_AND_RESPOND(
        Actor.SERVER_POLLER,
        scene -> {
          scene.steps.stepServer();
          scene.respond();
          scene.steps.stepServer();
        });

    final Actor actor;
    final Consumer<Scene> act;

    Action(Actor actor, Consumer<Scene> act) {
      this.actor = actor;
      this.act = act;
    }
  }

  @SuppressWarnings("ImmutableEnumChecker")
  private enum Setup {
    ONE_CALL_SENT(Sizes.TINY, 1, 0),
    ONE_CALL_AT_THE_HANDLER(Sizes.TINY, 1, 1),
    REQUEST_RING_JUST_FULL(new Sizes(128, 64, 8, 1000), 2, 0),
    RESPONSE_RING_JUST_FULL(new Sizes(128, 64, 8, 1000), 3, 3),
    REQUEST_RING_FULL(new Sizes(128, 64, 8, 1000), 5, 0),
    RESPONSE_RING_FULL(new Sizes(128, 64, 8, 1000), 5, 5),
    LARGER_RING_FULL(new Sizes(512, 64, 16, 1000), 14, 14);

    final Sizes sizes;
    final int calls;
    final int served;

    Setup(Sizes sizes, int calls, int served) {
      this.sizes = sizes;
      this.calls = calls;
      this.served = served;
    }

    Scene scene() {
      final Scene scene = new Scene(sizes);
      for (int i = 0; i < calls; i++) {
        scene.send();
        if (i < served) {
          scene.steps.stepServer();
        }
      }
      if (served > 1) {
        for (int i = 1; i < served; i++) {
          scene.respond();
        }
      }
      return scene;
    }
  }

  @ParameterizedTest
  @EnumSource
  void noWakeupIsLost(Setup setup) {
    for (final Action main : Action.values()) {
      for (final Action injected : Action.values()) {
        if (main.actor != injected.actor) {
          int access = 0;
          while (interleave(setup, main, injected, access, 0)) {
            access++;
          }
        }
      }
    }
  }

  /** The same after both sides went to sleep. */
  @ParameterizedTest
  @EnumSource
  void noSleeperIsForgotten(Setup setup) {
    for (final Action main : Action.values()) {
      for (final Action injected : Action.values()) {
        if (main.actor != injected.actor) {
          int access = 0;
          while (interleave(setup, main, injected, access, 3)) {
            access++;
          }
        }
      }
    }
  }

  /** Returns false when the main action was over before that access. */
  private static boolean interleave(
      Setup setup, Action main, Action injected, int access, int stepsBefore) {
    final Scene scene = setup.scene();
    for (int i = 0; i < stepsBefore; i++) {
      scene.steps.stepServer();
      scene.steps.stepClient();
    }
    scene.region.inject(access, () -> injected.act.accept(scene));
    main.act.accept(scene);
    final boolean happened = scene.region.stop();
    scene.steps.answerAll();
    final String what = setup + ": " + injected + " before access " + access + " of " + main;
    for (final Call call : scene.calls) {
      assertTrue(call.isOver(), () -> "left behind: " + what);
      assertTrue(call.cancelled || call.outcome == Outcome.ANSWERED, what);
    }
    assertFalse(scene.steps.client.hasEnded() || scene.steps.server.hasEnded(), what);
    scene.steps.client.drain();
    scene.steps.settle();
    assertEquals(List.of("drained"), scene.steps.clientEnds, what);
    return happened;
  }

  /** The poller comes for a ring while another thread is about to leave, already armed. */
  @Test
  void missedPollerIsCalledBack() {
    Scene scene = new Scene(Sizes.ROOMY);
    scene.send();
    scene.steps.settle();
    assertTrue(scene.steps.client.driver.tryAcquire());
    scene.respond();
    scene.steps.stepClient(); // finds the session owned, and gives it up
    scene.steps.stepClient();
    assertFalse(scene.calls.get(0).isOver());
    scene.steps.client.driver.releaseAndTell(); // as armed as it was: nobody would ring again
    scene.steps.stepClient();
    assertEquals(Outcome.ANSWERED, scene.calls.get(0).outcome);
  }

  /** Every value is a position, also where a side has not rung yet. */
  @ParameterizedTest
  @ValueSource(longs = {-1, 0, 1, Long.MAX_VALUE, Long.MIN_VALUE})
  void firstSleepersAreRungWhereverTheRingsStart(long position) {
    SessionSteps steps = new SessionSteps(Sizes.ROOMY, position, position);
    Call call = steps.prepare(bytes(30, 1), Stream.NO_DEADLINE);
    steps.client.send(call.stream);
    assertEquals(1, steps.fabric.client().ringsSent(), "the server slept");
    steps.stepServer();
    steps.requests.remove(0).echo();
    assertEquals(1, steps.fabric.server().ringsSent(), "the client slept");
    steps.stepClient();
    assertEquals(Outcome.ANSWERED, call.outcome);
  }

  @Test
  void sleepersAreRungOnceAndOthersNever() {
    Scene scene = new Scene(Sizes.ROOMY);
    scene.steps.settle();
    int rings = scene.steps.fabric.client().ringsSent();
    scene.send();
    assertEquals(rings + 1, scene.steps.fabric.client().ringsSent(), "the server slept");
    scene.steps.stepServer();
    rings = scene.steps.fabric.server().ringsSent();
    scene.respond();
    assertEquals(rings + 1, scene.steps.fabric.server().ringsSent(), "the client slept");
    scene.steps.settle();
    assertTrue(scene.steps.client.driver.tryAcquire());
    scene.steps.client.driver.disarm();
    scene.steps.client.driver.releaseAndTell();
    rings = scene.steps.fabric.server().ringsSent();
    scene.steps.server.driver.drive();
    assertEquals(rings, scene.steps.fabric.server().ringsSent());
  }
}
