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
 * Where DiSNI's objects and the natives of this package meet: both work on the same objects of
 * libibverbs and librdmacm, which the natives take as pointers.
 */
public final class Disni {
  private static final Logger LOGGER = System.getLogger(Disni.class.getName());

  /** What an id finds its context with, and a context two numbers that nobody asks for. */
  private static final NativeDispatcher NO_DISPATCHER = null;

  private Disni() {}

  /** Pointer to the native object behind one of DiSNI's; not to be followed once that is closed. */
  public static long handle(Object object) {
    return ((NatObject) object).getObjId();
  }

  /** Creates an id for a reliable connection. No two threads at one channel. */
  public static RdmaCmId createId(RdmaEventChannel channel) throws IOException {
    return channel.createId(RdmaCm.RDMA_PS_TCP);
  }

  /**
   * The id of a connect request, whose event {@link ConnectionManager#nextEvent} has taken. DiSNI
   * would keep it with the channel for good.
   */
  public static RdmaCmId requested(long handle, RdmaEventChannel channel) throws IOException {
    NatCmaIdPrivate id = new NatCmaIdPrivate(handle, channel, NO_DISPATCHER);
    id.setVerbs(new NatIbvContext(ConnectionManager.context(handle), NO_DISPATCHER));
    return id;
  }

  /** Throws if a call of DiSNI's has returned a negative errno. */
  public static void check(String function, int result) throws IOException {
    if (result < 0) {
      throw new IOException(function + ": " + Errors.errnoText(result));
    }
  }

  /** Gives one object back, if there is one; the others go even if it does not. */
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

  /** Gives back what a native of ours has created, if it is there, in the same way. */
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

  /** Destroys what a handle names. */
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
