package dev.ringfetch.rdma.natives;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.ibm.disni.util.MemoryUtils;
import com.ibm.disni.util.NativeAffinity;
import com.ibm.disni.verbs.RdmaEventChannel;
import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The library out of the jar, in a JVM that was given no flag for it; devices or not. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
final class NativeLibraryTest {
  @BeforeEach
  void load() throws IOException {
    RdmaAssumptions.assumeBuilt();
    NativeLibrary.require();
    assertTrue(NativeLibrary.loaded());
  }

  @Test
  void disniTakesTheInterfaceForItsOwn() throws ReflectiveOperationException {
    Class<?> dispatcher = Class.forName("com.ibm.disni.verbs.impl.NativeDispatcher");
    Constructor<?> constructor = dispatcher.getDeclaredConstructor();
    constructor.setAccessible(true);
    assertEquals(32, dispatcher.getMethod("_getVersion").invoke(constructor.newInstance()));
  }

  /** What needs an interface that java.base does not export. */
  @Test
  void disniFindsAddressesOfBuffers() {
    ByteBuffer buffer = ByteBuffer.allocateDirect(64);
    assertEquals(Regions.address(buffer), MemoryUtils.getAddress(buffer));
    assertEquals(Regions.address(buffer) + 16, Regions.address(buffer.slice(16, 8)));
    assertEquals(0, Regions.address(ByteBuffer.allocate(64)));
  }

  @Test
  void withoutDeviceDisniSaysSoAndSoDoWe() throws IOException {
    String reason = NativeLibrary.unavailableBecause();
    assertEquals(reason.isEmpty(), NativeLibrary.available());
    if (NativeLibrary.available()) {
      RdmaEventChannel.createEventChannel().destroyEventChannel();
      return;
    }
    System.out.println("no RDMA here: " + reason);
    assertEquals(1, reason.lines().count());
    IOException error =
        assertThrows(IOException.class, () -> RdmaEventChannel.createEventChannel());
    assertTrue(
        error.getMessage().matches("rdma_create_event_channel: .+ \\(errno \\d+\\)"),
        error::getMessage);
    error = assertThrows(IOException.class, () -> Devices.open("none"));
    assertTrue(error.getMessage().contains("(errno "), error::getMessage);
  }

  @Test
  void numbersInJavaAreThoseInC() {
    Layouts.expected()
        .forEach((name, value) -> assertEquals((long) value, Layouts.value(name), name));
    assertEquals(Layouts.expected().size(), Layouts.count());
    assertEquals(-1, Layouts.value("sizeof nothing"));
  }

  /** Said before anything is touched: there is no connection here. */
  @Test
  void numbersThatTheWireHasNoRoomForAreRefused() {
    assertRefused("depths=256, not of 0 to 255", 256, 7, 7, 0);
    assertRefused("retries=8, not of 0 to 7", 1, 8, 7, 0);
    assertRefused("rnrRetries=-1, not of 0 to 7", 1, 7, -1, 0);
    assertRefused("length=256, not of 0 to 255", 1, 7, 7, 256);
    Class<IllegalArgumentException> misuse = IllegalArgumentException.class;
    assertThrows(misuse, () -> ConnectionManager.accept(0, 1, 8, 0, 0));
    assertThrows(misuse, () -> ConnectionManager.reject(0, 0, 256));
    assertThrows(misuse, () -> ConnectionManager.setAckTimeout(0, 32));
    assertThrows(misuse, () -> ConnectionManager.setTypeOfService(0, 256));
    assertThrows(misuse, () -> QueuePairs.changeMinRnrTimer(0, 32));
  }

  private static void assertRefused(
      String why, int depths, int retries, int rnrRetries, int length) {
    IllegalArgumentException error =
        assertThrows(
            IllegalArgumentException.class,
            () -> ConnectionManager.connect(0, depths, retries, rnrRetries, 0, length));
    assertEquals(why, error.getMessage());
  }

  @Test
  void codesHaveTexts() {
    assertEquals(Errors.errnoText(12), Errors.errnoText(-12));
    assertFalse(Errors.errnoText(12).isEmpty());
    assertTrue(
        Errors.completionText(CompletionLayout.REMOTE_ACCESS_ERROR).contains("remote access"));
    assertTrue(Errors.connectionEventText(EventLayout.REJECTED).contains("REJECTED"));
  }

  /** In a thread of its own, which takes its processors with it. */
  @Test
  void affinityIsSetAndRead() throws InterruptedException {
    long[] seen = new long[2];
    Thread thread =
        new Thread(
            () -> {
              seen[0] = NativeAffinity.getAffinity();
              NativeAffinity.setAffinity(Long.lowestOneBit(seen[0]));
              seen[1] = NativeAffinity.getAffinity();
            });
    thread.start();
    thread.join(TimeUnit.SECONDS.toMillis(30));
    assertTrue(seen[0] != 0);
    assertEquals(Long.lowestOneBit(seen[0]), seen[1]);
  }

  /** Past DiSNI's own check, which leaves such a mask out silently. */
  @Test
  void affinityToNoProcessorIsRefused() throws ReflectiveOperationException {
    Method method = NativeAffinity.class.getDeclaredMethod("_setAffinity", long.class);
    method.setAccessible(true);
    InvocationTargetException error =
        assertThrows(InvocationTargetException.class, () -> method.invoke(null, 0L));
    assertInstanceOf(IllegalArgumentException.class, error.getCause());
  }
}
