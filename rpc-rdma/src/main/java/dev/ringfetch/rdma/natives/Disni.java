package dev.ringfetch.rdma.natives;

import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaEventChannel;
import com.ibm.disni.verbs.impl.NatCmaIdPrivate;
import com.ibm.disni.verbs.impl.NatIbvContext;
import com.ibm.disni.verbs.impl.NatObject;
import com.ibm.disni.verbs.impl.NativeDispatcher;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;

/**
 * Bridge between DiSNI's objects and the natives of this package: both work on the same objects of
 * libibverbs and librdmacm, which the natives take as pointers.
 */
public final class Disni {
  private static final Logger LOGGER = System.getLogger(Disni.class.getName());

  /**
   * Required by DiSNI's constructors: an id looks up its context here, and a context has two
   * numbers that nothing reads.
   */
  private static final NativeDispatcher NO_DISPATCHER = null;

  private Disni() {}

  /** Pointer to the native object behind one of DiSNI's; not to be followed once that is closed. */
  public static long handle(Object object) {
    return ((NatObject) object).getObjId();
  }

  /** Creates an id for a reliable connection. At most one thread at a time per channel. */
  public static RdmaCmId createId(RdmaEventChannel channel) throws IOException {
    return channel.createId(RdmaCm.RDMA_PS_TCP);
  }

  /**
   * The id of a connect request, whose event {@link ConnectionManager#nextEvent} has taken. DiSNI
   * would keep it in the channel for ever.
   */
  public static RdmaCmId requested(long handle, RdmaEventChannel channel) throws IOException {
    final NatCmaIdPrivate id = new NatCmaIdPrivate(handle, channel, NO_DISPATCHER);
    id.setVerbs(new NatIbvContext(ConnectionManager.context(handle), NO_DISPATCHER));
    return id;
  }

  /** Throws if a call of DiSNI's has returned a negative errno. */
  public static void check(String function, int result) throws IOException {
    if (result < 0) {
      throw new IOException(function + ": " + Errors.errnoText(result));
    }
  }

  /**
   * Frees one object, if there is one. A failure is only logged, so that the caller goes on with
   * the other objects.
   */
  public static <T> void giveBack(T object, Giving<T> giving) {
    if (object == null) {
      return;
    }
    try {
      check(object.getClass().getSimpleName(), giving.back(object));
    } catch (Exception e) {
      LOGGER.log(Level.WARNING, "an RDMA object stays", e);
    }
  }

  /**
   * Frees an object that a native of this package has created, if there is one, in the same way.
   */
  public static void giveBack(long handle, NativeGiving giving) {
    if (handle == 0) {
      return;
    }
    try {
      giving.back(handle);
    } catch (IOException e) {
      LOGGER.log(Level.WARNING, "an RDMA object stays", e);
    }
  }

  /** Destroys the object of a handle. */
  @FunctionalInterface
  public interface NativeGiving {
    void back(long handle) throws IOException;
  }

  /** Destroys an object; returns 0 or a negative errno. */
  @FunctionalInterface
  public interface Giving<T> {
    int back(T object) throws Exception;
  }
}
