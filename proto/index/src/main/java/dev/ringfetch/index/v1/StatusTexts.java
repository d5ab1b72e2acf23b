package dev.ringfetch.index.v1;

/** The beginnings of descriptions that tell statuses of one code apart. */
public final class StatusTexts {
  /**
   * With RESOURCE_EXHAUSTED: too much waits at the server. The call was not carried out, and the
   * same call may succeed a moment later. In outcomes of a BatchPutResponse, too.
   */
  public static final String OVERLOADED = "overloaded: ";

  /**
   * With FAILED_PRECONDITION: a write with a number is not carried out, as it may have been before.
   */
  public static final String OUTCOME_GONE = "outcome is gone";

  private StatusTexts() {}
}
