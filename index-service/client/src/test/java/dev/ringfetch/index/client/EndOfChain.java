package dev.ringfetch.index.client;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.kernel.Kernel;
import dev.ringfetch.index.kernel.KernelReader;
import dev.ringfetch.index.v1.Entry;

/** A kernel that takes values for keys, as long as there are entries. */
public final class EndOfChain implements Kernel {
  @Override
  public String name() {
    return "end-of-chain";
  }

  @Override
  public ByteString run(ByteString argument, KernelReader reader) {
    ByteString value = argument;
    for (Entry next = reader.get(value); next != null; next = reader.get(value)) {
      value = next.getValue();
    }
    return value;
  }
}
