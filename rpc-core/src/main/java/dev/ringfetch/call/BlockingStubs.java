package dev.ringfetch.call;

import io.grpc.CallOptions;
import io.grpc.stub.InternalClientCalls;
import io.grpc.stub.InternalClientCalls.StubType;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * Detection of calls that a blocking stub starts. The thread of a blocking stub will wait for the
 * answer anyway, so it may as well poll for it; see docs/adr/0003-session-ownership.md.
 */
public final class BlockingStubs {
  private static final CallOptions.Key<?> STUB_TYPE = InternalClientCalls.getStubTypeOption();
  private static final Object BLOCKING =
      InternalClientCalls.setStubType(CallOptions.DEFAULT, StubType.BLOCKING).getOption(STUB_TYPE);
  private static final MethodHandle IS_VIRTUAL = isVirtualHandle();

  private BlockingStubs() {}

  /** True when the calling thread belongs to a blocking stub and may spin. */
  static boolean mayPoll(CallOptions options) {
    return options.getOption(STUB_TYPE) == BLOCKING && maySpin();
  }

  /** Marks the options of a call for which the caller waits as in a blocking stub. */
  public static CallOptions blocking(CallOptions options) {
    return InternalClientCalls.setStubType(options, StubType.BLOCKING);
  }

  /** True when the calling thread may spin. */
  static boolean maySpin() {
    return !isVirtual(Thread.currentThread());
  }

  /** True when a generated stub starts the call: it sends and half-closes at once. */
  static boolean isStub(CallOptions options) {
    return options.getOption(STUB_TYPE) != null;
  }

  private static boolean isVirtual(Thread thread) {
    if (IS_VIRTUAL == null) {
      return false;
    }
    try {
      return (boolean) IS_VIRTUAL.invokeExact(thread);
    } catch (Throwable t) {
      throw new AssertionError("Thread.isVirtual failed", t);
    }
  }

  /**
   * {@code Thread.isVirtual} of Java 21: a virtual thread must not spin, as it would block its
   * carrier.
   */
  private static MethodHandle isVirtualHandle() {
    try {
      return MethodHandles.publicLookup()
          .findVirtual(Thread.class, "isVirtual", MethodType.methodType(boolean.class));
    } catch (NoSuchMethodException e) {
      return null; // Java 17 has no virtual threads
    } catch (IllegalAccessException e) {
      throw new ExceptionInInitializerError(e);
    }
  }
}
