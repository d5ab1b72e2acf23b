package dev.ringfetch.session;

/** Why a session ends over what its peer has written, a value for each rule of the wire format. */
enum Reject {
  /** A length that does not fit between the frame and the end of the ring. */
  LENGTH,
  /** An ack of what was never sent, or one that goes back. */
  ACK,
  /** A control line that says so. */
  CONTROL_LINE,
  /** An index that is not of the table; to a server, also a frame of the session. */
  INDEX,
  /** A request with an index that is in use. */
  INDEX_IN_USE,
  /** A request with the id that its index had last. */
  ID_AGAIN,
  /** A request with flags that none has, or without those that each has. */
  REQUEST_FLAGS,
  /** A request while the ends of too many others wait for room. */
  BACKLOG,
  /** A frame that begins no stream, for what is neither open nor was closed last. */
  STRANGE_ID,
  /** Flags beside those of a close, of a continuation or of a later unit of a request. */
  LATER_FLAGS,
  /** A later unit, or a window update, for a stream that has one unit each way. */
  NO_FLOW,
  /** To a server: a unit of a stream after the one with SUFFIX. */
  UNIT_AFTER_LAST,
  /** A unit of a flow without PREFIX, MESSAGE and SUFFIX. */
  UNIT_OF_NOTHING,
  /** To a client: PREFIX in a later unit than the first. */
  PREFIX_AGAIN,
  /** A message that begins while the window is closed. */
  WINDOW,
  /** A window update of another length than that of its number. */
  UPDATE_LENGTH,
  /** A window update to a shorter window, or one that is too long. */
  UPDATE_WINDOW,
  /** A window update to less than was told before. */
  UPDATE_BACK,
  /** A window update to more than was begun. */
  UPDATE_AHEAD,
  /** A continuation of nothing, or a beginning within a chain. */
  CHAIN_ORDER,
  /** The first frame of a chain has no room for the unit's length. */
  CHAIN_LENGTH,
  /** The unit's length is negative. */
  CHAIN_NEGATIVE,
  /** More bytes than announced. */
  CHAIN_LONG,
  /** The last frame, and bytes are missing; or the last byte, and more frames are announced. */
  CHAIN_END,
  /** A frame that names memory that is not there. */
  BULK,
  /** An answer to no offer of memory, or too many offers. */
  OFFER,
  /** A request with a deadline that has no room for it. */
  DEADLINE,
  /** To a client: a frame of the session that is not DRAIN alone. */
  SESSION_FRAME,
  /** To a client: an id that awaits nothing. */
  NOT_AWAITED
}
