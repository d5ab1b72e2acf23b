package dev.ringfetch.session.owner;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** The access to a volatile field that several threads change, for a constant of its class. */
public final class SharedField {
  private SharedField() {}

  /** Returns the handle of a field of the class that looks it up. */
  public static VarHandle of(MethodHandles.Lookup lookup, String name, Class<?> type) {
    try {
      return lookup.findVarHandle(lookup.lookupClass(), name, type);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }
}
