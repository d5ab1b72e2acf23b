package dev.ringfetch.examples.quickstart;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.direct.DirectReader;
import dev.ringfetch.index.direct.DirectValue;

/** Direct look-ups with one reader, as the demo compares and times them. */
final class DirectLookup implements DemoClient.Reader {
  private final DirectReader reader;
  private final DirectValue found = new DirectValue();

  DirectLookup(DirectReader reader) {
    this.reader = reader;
  }

  @Override
  public ByteString read(ByteString key) {
    return reader.get(key, found) ? found.value() : null;
  }
}
