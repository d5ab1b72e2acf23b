package dev.ringfetch.index;

import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * Printer of the errors in a program's command line: one line for the error and one that says how
 * to list the options, instead of the list itself.
 */
public final class OptionErrors {
  private OptionErrors() {}

  /** Has a program's errors printed so. Returns the program's command line. */
  public static CommandLine printedFor(CommandLine program) {
    return program.setParameterExceptionHandler(OptionErrors::print);
  }

  private static int print(ParameterException error, String[] arguments) {
    final CommandLine program = error.getCommandLine();
    final String name = program.getCommandSpec().qualifiedName();
    program.getErr().println(name + ": " + ServerDefaults.text(error));
    UnmatchedArgumentException.printSuggestions(error, program.getErr());
    program.getErr().println("Options: " + name + " --help");
    return program.getCommandSpec().exitCodeOnInvalidInput();
  }
}
