package dev.ringfetch.index.direct;

import com.google.protobuf.ByteString;

/** The result of a look at memory alone, by {@link DirectReader#look(ByteString, DirectValue)}. */
public enum DirectLook {
  /** There is an entry. */
  FOUND,
  /** There is none. */
  ABSENT,
  /** Memory does not decide, or is not granted: a call does. */
  UNDECIDED
}
