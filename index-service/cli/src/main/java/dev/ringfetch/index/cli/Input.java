package dev.ringfetch.index.cli;

import java.io.FileInputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.nio.file.AccessMode;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The input of a command: a file, a pipe, a terminal. Reads end at the signal to stop, with {@link
 * InterruptedIOException}; other exceptions name the input. Unbuffered.
 */
final class Input extends FilterInputStream {
  /** The operand that stands for standard input. */
  static final String STDIN = "-";

  private final String name;
  private final StopSignal stop;

  Input(String name, InputStream in, StopSignal stop) {
    super(in);
    this.name = name;
    this.stop = stop;
  }

  /** Opens a file, which may be a pipe that has no writer yet. */
  static Input open(String file, StopSignal stop) throws IOException {
    final Path path = Path.of(file);
    if (Files.isDirectory(path)) {
      throw new CommandFailure(ExitCode.FAILED, file + ": is a directory, not a file");
    }
    path.getFileSystem().provider().checkAccess(path, AccessMode.READ); // names the reason
    // Not a stream of java.nio: it would ask a pipe for its position.
    return new Input(file, stop.await(() -> new FileInputStream(file)), stop);
  }

  @Override
  public int read() throws IOException {
    final byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] bytes, int offset, int length) throws IOException {
    try {
      return stop.await(() -> in.read(bytes, offset, length));
    } catch (InterruptedIOException e) {
      throw e;
    } catch (IOException e) {
      throw new FileSystemException(name, null, e.getMessage());
    }
  }
}
