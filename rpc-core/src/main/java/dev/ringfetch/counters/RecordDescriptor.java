package dev.ringfetch.counters;

/**
 * Layout of a record of a snapshot: the counters of one subject. Little-endian.
 *
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +---------------------------------------------------------------+
 *  |                              Kind                             |
 *  +---------------------------------------------------------------+
 *  |                          Label Length                         |
 *  +---------------------------------------------------------------+
 *  |                             Serial                            |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                             Label                             |
 *  |                                                               |
 *  |                                                               |
 *  |                                                               |
 *  |                                                               |
 *  |                                                               |
 *  |                                                               |
 *  |                                                               |
 *  |                                                               |
 *  |                                                               |
 *  |                                                               |
 *  |                                                               |
 *  |                                                               |
 *  |                                                               |
 *  |                                                               |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                            Values                            ...
 * ...                                                              |
 *  +---------------------------------------------------------------+
 *  |                            Detail                            ...
 * ...                                                              |
 *  +---------------------------------------------------------------+
 * </pre>
 *
 * <ul>
 *   <li><b>Kind</b>: code of the {@link Kind}: 1 channel, 2 server, 3 session, 4 poller, 5 backend.
 *   <li><b>Label</b>: a name for people, in UTF-8; what is longer is cut off.
 *   <li><b>Serial</b>: the subject's number, which no other one of the process has; 0 for all of
 *       the kind together.
 *   <li><b>Values</b>: 64 bits each, at the place of the {@link Counter#index()}.
 *   <li><b>Detail</b>: the subject's present condition, for people, from the last value of its kind
 *       to the end of the record. UTF-8, ended by a zero byte or by the record; what is longer is
 *       cut off. A session has no room for one.
 * </ul>
 */
public final class RecordDescriptor {
  /** Offset of the kind, 32 bits. */
  public static final int KIND_OFFSET = 0;

  /** Offset of the length of the label in bytes, 32 bits. */
  public static final int LABEL_LENGTH_OFFSET = KIND_OFFSET + Integer.BYTES;

  /** Offset of the serial number, 64 bits. */
  public static final int SERIAL_OFFSET = LABEL_LENGTH_OFFSET + Integer.BYTES;

  /** Offset of the label, 512 bits. */
  public static final int LABEL_OFFSET = SERIAL_OFFSET + Long.BYTES;

  /** Room for the label in bytes. */
  public static final int MAX_LABEL_LENGTH = 64;

  /** Offset of the values. */
  public static final int VALUES_OFFSET = LABEL_OFFSET + MAX_LABEL_LENGTH;

  /** Values that there is room for. */
  public static final int MAX_VALUES = 30;

  /** Length of a record: five lines. */
  public static final int RECORD_LENGTH = VALUES_OFFSET + MAX_VALUES * Long.BYTES;

  private RecordDescriptor() {}
}
