package dev.ringfetch.rdma.natives;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import com.ibm.disni.util.MemoryUtils;
import com.ibm.disni.verbs.RdmaEventChannel;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The native library behind this package and behind DiSNI: found in the jar, or where the property
 * {@value #PROPERTY} says, and loaded with no flag on the command line.
 *
 * <p>The first caller loads it, once, before any class of DiSNI's is initialised. The reason of a
 * failure is kept as one line, and methods that only query never throw it. If the copy out of the
 * jar found no room, the next caller tries again. All methods may be called from any thread.
 */
public final class NativeLibrary {
  /** System property: absolute path of an installed library, used instead of the one in the jar. */
  public static final String PROPERTY = "ringfetch.rdma.library";

  private static final String FILE = "libringfetch-verbs.so";

  /** Package of java.base that DiSNI needs and that is not exported. */
  private static final String DISNI_NEEDS = "sun.nio.ch";

  private static final String LOADED = "";

  @GuardedBy("NativeLibrary.class")
  private static String outcome; // of loading, null until it is final

  private NativeLibrary() {}

  /** Whether verbs can be used here and now: the library is loaded and there is a device. */
  public static boolean available() {
    return unavailableBecause().isEmpty();
  }

  /**
   * Why verbs cannot be used, in one line; empty if they can. Looks for devices anew at each call,
   * as they come and go while a process runs.
   */
  public static String unavailableBecause() {
    final String loading = load();
    if (!loading.equals(LOADED)) {
      return loading;
    }
    try {
      if (Devices.names().length == 0) {
        return "no RDMA device";
      }
      if (Linking.OUTCOME.equals(LOADED)) {
        RdmaEventChannel.createEventChannel().destroyEventChannel();
      }
      return Linking.OUTCOME;
    } catch (IOException e) {
      return e.getMessage();
    }
  }

  /** Whether the library is loaded, devices or not. Initialises nothing of DiSNI's. */
  public static boolean loaded() {
    return load().equals(LOADED);
  }

  /**
   * Insists that the library is loaded and that DiSNI finds it, devices or not. To be called before
   * the first use of any class of DiSNI's.
   *
   * @throws IOException if it is not, with the reason as its message.
   */
  public static void require() throws IOException {
    final String loading = load();
    final String reason = loading.equals(LOADED) ? Linking.OUTCOME : loading;
    if (!reason.equals(LOADED)) {
      throw new IOException(reason);
    }
  }

  /** Directory of the library in the jar, for the machine that runs. */
  public static String resource() {
    final String arch = System.getProperty("os.arch");
    return "/native/linux-" + (arch.equals("amd64") ? "x86_64" : arch) + "/" + FILE;
  }

  /**
   * Loads at the first call, and tries again at later calls if the directory for the copy had no
   * room.
   */
  private static synchronized String load() {
    if (outcome != null) {
      return outcome;
    }
    final String path = System.getProperty(PROPERTY);
    try {
      if (path != null) {
        link(path);
      } else {
        linkBundled();
      }
      outcome = LOADED;
    } catch (CopyException e) {
      return "native library: " + e.getMessage();
    } catch (IOException | LinkageError | IllegalCallerException | IllegalStateException e) {
      // The last two: a flag denies native access; the library is of another build.
      outcome = "native library: " + oneLine(e);
    }
    return outcome;
  }

  /** Copies the library out of the jar, which no linker can read, for as long as loading takes. */
  private static void linkBundled() throws IOException {
    try (InputStream library = NativeLibrary.class.getResourceAsStream(resource())) {
      if (library == null) {
        throw new IOException("none in the jar at " + resource());
      }
      try (Copy copy = Copy.of(library)) {
        link(copy.path().toString());
      }
    }
  }

  private static void link(String path) throws IOException {
    System.load(path);
    publishSymbols();
    exportPackage(Object.class.getModule(), DISNI_NEEDS, MemoryUtils.class.getModule());
    Layouts.verify();
  }

  /**
   * A file that no other user may write, from its creation on, and that is deleted when it is
   * closed.
   */
  private record Copy(Path path) implements Closeable {
    static Copy of(InputStream content) throws CopyException {
      try {
        final Copy copy = new Copy(Files.createTempFile("ringfetch-verbs", ".so"));
        try {
          copy.fill(content);
          return copy;
        } catch (IOException e) {
          copy.close();
          throw e;
        }
      } catch (IOException e) {
        throw new CopyException(e);
      }
    }

    /** Writes into the very file: a new one in its place would have the mode of the umask. */
    private void fill(InputStream content) throws IOException {
      try (OutputStream out = Files.newOutputStream(path)) {
        content.transferTo(out);
      }
    }

    @Override
    public void close() throws IOException {
      Files.delete(path); // stays mapped
    }
  }

  /** Thrown if the directory is full and took no copy; it may take one later. */
  private static final class CopyException extends IOException {
    private static final long serialVersionUID = 1;

    CopyException(IOException cause) {
      super("no copy in " + System.getProperty("java.io.tmpdir") + ": " + oneLine(cause), cause);
    }
  }

  /**
   * Initialises DiSNI's half when it is first needed: on a host without devices it would only
   * report that there is no log framework.
   */
  private static final class Linking {
    static final String OUTCOME = link();

    private static String link() {
      try {
        Class.forName("com.ibm.disni.verbs.impl.NativeDispatcher");
        return LOADED;
      } catch (ReflectiveOperationException | LinkageError e) {
        return "DiSNI: " + oneLine(e);
      }
    }
  }

  private static String oneLine(Throwable thrown) {
    final String message = thrown.getMessage();
    return thrown.getClass().getSimpleName()
        + (message == null ? "" : ": " + message.lines().findFirst().orElse(""));
  }

  /** Makes the library's symbols global, so that the VM finds DiSNI's library in the process. */
  private static native void publishSymbols() throws IOException;

  /** Exports a package of one module to another. */
  private static native void exportPackage(Module from, String name, Module to) throws IOException;
}
