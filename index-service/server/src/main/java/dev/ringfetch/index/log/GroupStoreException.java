package dev.ringfetch.index.log;

/** The failure to apply a record. */
public final class GroupStoreException extends Exception {
  private static final long serialVersionUID = 1;

  /** Creates the exception. */
  public GroupStoreException(String message) {
    super(message);
  }

  /** Creates the exception. */
  public GroupStoreException(String message, Throwable cause) {
    super(message, cause);
  }
}
