package dev.ringfetch.rpc;

import io.grpc.ChannelCredentials;
import io.grpc.ManagedChannelBuilder;
import io.grpc.ServerBuilder;
import io.grpc.ServerCredentials;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import java.util.HashMap;
import java.util.Map;

/** gRPC's in-process transport. It has no wire, and so not all that gRPC has on one. */
final class InProcessHarness extends PlainHarness {
  /** What it does in another way, by the name of the test that shows it, and why it may. */
  static final Map<String, String> DIFFERENCES = differences();

  private final String name = InProcessServerBuilder.generateName();

  private static Map<String, String> differences() {
    final Map<String, String> differences = new HashMap<>();
    add(
        differences,
        "in-process hands over what the marshaller gives: nothing is framed, counted or compressed",
        "bytesAreCountedAtBothSides",
        "messagesAreCountedAndTheEndIsToldOnce",
        "messagesAreCountedAtTheServer",
        "requestsTooLongForTheServer",
        "requestsTooLongForTheServersDefault",
        "theLengthThatIsTooLongIsNamed",
        "aHandlerGetsNoMessageThatIsTooLong",
        "responsesTooLongForTheClient",
        "theLimitOfACallCountsBeforeTheChannels",
        "requestsTooLongToBeSent",
        "tooLongAMessageEndsTheStream",
        "anInboundMessageCanBeReadInPieces",
        "everyMessageOfAStreamIsCompressedUnlessSwitchedOff",
        "aUnaryMessageCanBeSentAsItIs",
        "blockingStubsCompress",
        "aRequestThatIsTooLongWhenItIsDecompressed",
        "aResponseThatIsTooLongWhenItIsDecompressed",
        "theOutboundLimitIsOfTheMessageBeforeAndAfter");
    add(
        differences,
        "in-process hands over the Metadata object of the other side",
        "textThatIsNotPrintableIsDroppedFromRequests",
        "textThatIsNotPrintableIsDroppedFromAnswers",
        "theMetadataOfACallIsItsOwn",
        "headersThatTracersAddReachTheServerAndNotTheCaller",
        "theStatusIsNotTheApplicationsToName");
    add(
        differences,
        "in-process lets an application name its own user agent",
        "whatIsTheTransportsToSayIsNotTheApplications");
    add(
        differences,
        "in-process limits metadata only if it is told to, whatever HTTP/2's default is",
        "metadataThatIsTooLongFailsItsCallOnly");
    add(
        differences,
        "in-process has no window of bytes: it is ready while the other side asks for messages",
        "serverThatHeedsIsReadyIsHeldBack",
        "theServerSaysHowMuchMayWait",
        "theClientSaysHowMuchMayWait",
        "clientThatHeedsIsReadyIsHeldBack");
    add(
        differences,
        "in-process says of itself that it is private, since nothing leaves the process",
        "credentialsSeeTheConnectionAndTheCall");
    add(
        differences,
        "in-process has names instead of ports",
        "aServerSaysWhatItServesAndWhere",
        "aChannelSaysWhereItGoes");
    return Map.copyOf(differences);
  }

  private static void add(Map<String, String> differences, String reason, String... tests) {
    for (final String test : tests) {
      differences.put(test, reason);
    }
  }

  @Override
  String allowedDifference(String test) {
    return DIFFERENCES.get(test);
  }

  @Override
  ServerBuilder<?> newServerBuilder(int port, ServerCredentials credentials) {
    return InProcessServerBuilder.forName(name);
  }

  @Override
  ManagedChannelBuilder<?> newChannelBuilder(String target, ChannelCredentials credentials) {
    return InProcessChannelBuilder.forName(name);
  }
}
