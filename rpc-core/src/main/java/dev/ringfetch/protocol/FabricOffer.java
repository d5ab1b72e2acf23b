package dev.ringfetch.protocol;

/** One way to share memory that the client can use. */
public final class FabricOffer extends Message<FabricOffer> {
  /** Its fields. */
  public static final MessageType<FabricOffer> TYPE =
      MessageType.of("FabricOffer", FabricOffer::new);

  /** Name of the fabric, as both sides register it. */
  public static final Field<FabricOffer, String> NAME = TYPE.string("name", 1);

  /** What the fabric of the server needs to tell whether the two can meet. */
  public static final Field<FabricOffer, byte[]> HINT = TYPE.bytes("hint", 2);

  @Override
  MessageType<FabricOffer> type() {
    return TYPE;
  }
}
