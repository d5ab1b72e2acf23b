package dev.ringfetch.protocol;

/** The sizes of a connection, in bytes; {@code Geometry} in {@code session.proto}. */
public final class RingSizes extends Message<RingSizes> {
  /** Its fields. */
  public static final MessageType<RingSizes> TYPE = MessageType.of("Geometry", RingSizes::new);

  /** Length of the ring for requests. */
  public static final Field<RingSizes, Integer> REQUEST_RING_BYTES =
      TYPE.uint32("request_ring_bytes", 1);

  /** Length of the ring for responses. */
  public static final Field<RingSizes, Integer> RESPONSE_RING_BYTES =
      TYPE.uint32("response_ring_bytes", 2);

  /** Longest frame, with its header. */
  public static final Field<RingSizes, Integer> MAX_FRAME_BYTES = TYPE.uint32("max_frame_bytes", 3);

  @Override
  MessageType<RingSizes> type() {
    return TYPE;
  }
}
