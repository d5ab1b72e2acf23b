package dev.ringfetch.protocol;

import java.util.List;

/** What the client can do and what it wishes. */
public final class Hello extends Message<Hello> {
  private static final int MAX_FABRICS = 1024;

  /** Its fields. */
  public static final MessageType<Hello> TYPE = MessageType.of("Hello", Hello::new);

  /** Oldest version of the ring format that the client speaks. */
  public static final Field<Hello, Integer> MIN_VERSION = TYPE.uint32("min_version", 1);

  /** Newest version of the ring format that the client speaks. */
  public static final Field<Hello, Integer> MAX_VERSION = TYPE.uint32("max_version", 2);

  /** Fabrics that the client can use, the best first. */
  public static final Field<Hello, List<FabricOffer>> FABRICS =
      TYPE.messages("fabrics", 3, FabricOffer.TYPE, MAX_FABRICS);

  /** Sizes that the client wishes; 0 leaves one to the server. */
  public static final Field<Hello, RingSizes> GEOMETRY =
      TYPE.message("geometry", 4, RingSizes.TYPE);

  /** The client's end of the connection, as the client sees it; see {@code session.proto}. */
  public static final Field<Hello, byte[]> CLIENT_ADDRESS = TYPE.bytes("client_address", 5);

  /** 1 when the client can READ long messages out of memory that it does not load from. */
  public static final Field<Hello, Integer> LONG_READS = TYPE.uint32("long_reads", 6);

  @Override
  MessageType<Hello> type() {
    return TYPE;
  }
}
