package dev.ringfetch.protocol;

import java.util.List;

/** What the connection is to be. */
public final class Answer extends Message<Answer> {
  private static final int MAX_METHODS = 1 << 16;

  /** Its fields. */
  public static final MessageType<Answer> TYPE = MessageType.of("Answer", Answer::new);

  /** Version of the ring format to speak. */
  public static final Field<Answer, Integer> VERSION = TYPE.uint32("version", 1);

  /** Name of the fabric to use. */
  public static final Field<Answer, String> FABRIC = TYPE.string("fabric", 2);

  /** Random bytes that admit the client once. Not to be logged. */
  public static final Field<Answer, byte[]> TOKEN = TYPE.bytes("token", 3);

  /** Where and how to reach the memory; for the fabric alone. */
  public static final Field<Answer, byte[]> FABRIC_DESCRIPTOR = TYPE.bytes("fabric_descriptor", 4);

  /** Sizes of the connection; each is set. */
  public static final Field<Answer, RingSizes> GEOMETRY =
      TYPE.message("geometry", 5, RingSizes.TYPE);

  /** Random number that salts the frames of this connection. */
  public static final Field<Answer, Long> EPOCH = TYPE.fixed64("epoch", 6);

  /** Position of the first frame with a request, in slots. */
  public static final Field<Answer, Long> REQUEST_POSITION = TYPE.fixed64("request_position", 7);

  /** Position of the first frame with a response, in slots. */
  public static final Field<Answer, Long> RESPONSE_POSITION = TYPE.fixed64("response_position", 8);

  /** Calls that the client may have open at the same time. */
  public static final Field<Answer, Integer> MAX_STREAMS = TYPE.uint32("max_streams", 9);

  /** Full names of the methods; the index of one is its id in the frames. */
  public static final Field<Answer, List<String>> METHODS =
      TYPE.strings("methods", 10, MAX_METHODS);

  /** Longest request message that the server takes. */
  public static final Field<Answer, Integer> MAX_REQUEST_BYTES =
      TYPE.uint32("max_request_bytes", 11);

  /** Most metadata that the server takes with one call. */
  public static final Field<Answer, Integer> MAX_METADATA_BYTES =
      TYPE.uint32("max_metadata_bytes", 12);

  /** 1 when the server can READ long messages, and the client has said that it can. */
  public static final Field<Answer, Integer> LONG_READS = TYPE.uint32("long_reads", 13);

  @Override
  MessageType<Answer> type() {
    return TYPE;
  }
}
