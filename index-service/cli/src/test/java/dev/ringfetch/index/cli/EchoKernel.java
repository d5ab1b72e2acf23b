package dev.ringfetch.index.cli;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.kernel.Kernel;
import dev.ringfetch.index.kernel.KernelReader;

/** A kernel that answers with its argument. */
public final class EchoKernel implements Kernel {
  @Override
  public String name() {
    return "echo";
  }

  @Override
  public ByteString run(ByteString argument, KernelReader reader) {
    return argument;
  }
}
