package dev.ringfetch.index.client;

import dev.ringfetch.index.coordinator.Coordinator;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.Node;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/** A coordinator that delivers the groups to its node only when the node asks it to catch up. */
final class LaggingCoordinator implements Coordinator.Listener {
  private final Coordinator of;
  private final List<GroupState> late = new ArrayList<>();
  private Coordinator.Listener node;

  private LaggingCoordinator(Coordinator of) {
    this.of = of;
  }

  /** Puts itself before another one. */
  static Coordinator before(Coordinator of) {
    return (Coordinator)
        Proxy.newProxyInstance(
            Coordinator.class.getClassLoader(),
            new Class<?>[] {Coordinator.class},
            new LaggingCoordinator(of)::call);
  }

  private Object call(Object proxy, Method method, Object[] arguments) throws Throwable {
    if (method.getName().equals("poll")) {
      node = (Coordinator.Listener) arguments[0];
      return of.poll(this);
    }
    if (method.getName().equals("sync")) {
      final Coordinator.Answer answer = (Coordinator.Answer) arguments[0];
      of.sync(
          (result, state) -> {
            late.forEach(node::onGroup);
            late.clear();
            answer.onAnswer(result, state);
          });
      return null;
    }
    try {
      return method.invoke(of, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  @Override
  public void onGroup(GroupState state) {
    late.add(state);
  }

  @Override
  public void onDropped(long group) {
    node.onDropped(group);
  }

  @Override
  public void onDroppedGroups(Collection<Long> newest) {
    node.onDroppedGroups(newest);
  }

  @Override
  public void onNodes(Collection<Node> nodes) {
    node.onNodes(nodes);
  }

  @Override
  public void onConnected(boolean connected) {
    node.onConnected(connected);
  }
}
