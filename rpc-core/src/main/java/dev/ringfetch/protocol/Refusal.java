package dev.ringfetch.protocol;

/** There is no ring connection for this client. */
public final class Refusal extends Message<Refusal> {
  /** Its fields. */
  public static final MessageType<Refusal> TYPE = MessageType.of("Refusal", Refusal::new);

  /** Why, for people to read. */
  public static final Field<Refusal, String> REASON = TYPE.string("reason", 1);

  @Override
  MessageType<Refusal> type() {
    return TYPE;
  }
}
