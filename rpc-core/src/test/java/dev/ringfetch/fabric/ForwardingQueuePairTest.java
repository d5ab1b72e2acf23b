package dev.ringfetch.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

final class ForwardingQueuePairTest {
  /** What reached the target. */
  private record Call(Method method, List<Object> arguments, Object result) {}

  private final List<Call> calls = new ArrayList<>();
  private final QueuePair forwarding =
      new ForwardingQueuePair(
          (QueuePair)
              Proxy.newProxyInstance(
                  QueuePair.class.getClassLoader(),
                  new Class<?>[] {QueuePair.class},
                  (proxy, method, arguments) -> {
                    final Object result = value(method.getReturnType(), 7);
                    calls.add(
                        new Call(
                            method,
                            arguments == null ? List.of() : Arrays.asList(arguments),
                            result));
                    return result;
                  })) {};

  /** Default methods too: a decorator without them would lose datagrams, or post what is corked. */
  @TestFactory
  List<DynamicTest> everyOperationReachesTheTarget() {
    return Arrays.stream(QueuePair.class.getMethods())
        .filter(method -> !Modifier.isStatic(method.getModifiers()))
        .map(method -> DynamicTest.dynamicTest(method.toString(), () -> reaches(method)))
        .toList();
  }

  private void reaches(Method method) throws ReflectiveOperationException {
    calls.clear();
    final Class<?>[] types = method.getParameterTypes();
    final Object[] arguments = new Object[types.length];
    for (int i = 0; i < types.length; i++) {
      arguments[i] = value(types[i], i + 1);
    }
    final Object result = method.invoke(forwarding, arguments);
    assertEquals(1, calls.size());
    assertEquals(method, calls.get(0).method());
    assertEquals(Arrays.asList(arguments), calls.get(0).arguments());
    if (method.getReturnType() == int.class) {
      assertEquals(calls.get(0).result(), result);
    } else {
      assertSame(calls.get(0).result(), result);
    }
  }

  /** A value of a type that differs with the number, where the type has several. */
  private static Object value(Class<?> type, int number) {
    if (type == int.class) {
      return number;
    }
    if (type == long.class) {
      return (long) number;
    }
    if (type == byte[].class) {
      return new byte[number];
    }
    if (type == String.class) {
      return "text " + number;
    }
    if (type.isInterface()) {
      return Proxy.newProxyInstance(
          type.getClassLoader(),
          new Class<?>[] {type},
          (proxy, method, arguments) ->
              switch (method.getName()) {
                case "equals" -> proxy == arguments[0];
                case "hashCode" -> number;
                default -> type.getSimpleName() + number;
              });
    }
    return null;
  }
}
