package dev.ringfetch.index.rights;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.google.protobuf.Message;
import dev.ringfetch.index.IndexServer;
import dev.ringfetch.index.service.DirectAccessService;
import dev.ringfetch.index.service.Indexes;
import dev.ringfetch.index.v1.DescribeClusterResponse;
import dev.ringfetch.index.v1.DirectAccessGrpc;
import dev.ringfetch.index.v1.GroupDescription;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.index.v1.IndexDescription;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.ListIndexesResponse;
import dev.ringfetch.index.v1.ReplicationGrpc;
import dev.ringfetch.rpc.RingServerBuilder;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.PrototypeMarshaller;
import io.grpc.ServiceDescriptor;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.protobuf.services.HealthStatusManager;
import io.grpc.reflection.v1.ServerReflectionGrpc;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The rule of each method of each service: a new one fails here until it has one. */
final class CallRulesTest {
  private static final List<ServiceDescriptor> GUARDED =
      List.of(
          IndexGrpc.getServiceDescriptor(),
          IndexAdminGrpc.getServiceDescriptor(),
          DirectAccessGrpc.getServiceDescriptor());

  /** Each right is for the index of the request, unless it says "all"; "user" is for each user. */
  private static final Map<String, String> EXPECTED =
      Map.ofEntries(
          Map.entry("Index/Get", "read"),
          Map.entry("Index/Append", "write"),
          Map.entry("Index/BatchGet", "read"),
          Map.entry("Index/Scan", "read"),
          Map.entry("Index/ScanPage", "read"),
          Map.entry("Index/Follow", "read"),
          Map.entry("Index/RunKernel", "read"),
          Map.entry("Index/Search", "read"),
          Map.entry("Index/SearchPage", "read"),
          Map.entry("Index/Nearest", "read"),
          Map.entry("Index/Count", "read"),
          Map.entry("Index/Describe", "read"),
          Map.entry("Index/Watch", "read"),
          Map.entry("Index/Put", "write"),
          Map.entry("Index/Delete", "write"),
          Map.entry("Index/CompareAndSet", "write"),
          Map.entry("Index/Update", "write"),
          Map.entry("Index/Transact", "write"),
          Map.entry("Index/BatchPut", "write"),
          Map.entry("Index/DeleteRange", "write"),
          Map.entry("Index/OpenClient", "write"),
          Map.entry("Index/CloseClient", "write"),
          Map.entry("IndexAdmin/CreateIndex", "write"),
          Map.entry("IndexAdmin/DropIndex", "admin"),
          Map.entry("IndexAdmin/RecoverIndex", "admin"),
          Map.entry("IndexAdmin/Snapshot", "admin all"),
          Map.entry("IndexAdmin/ListFiles", "admin all"),
          Map.entry("IndexAdmin/ReadFile", "admin all"),
          Map.entry("IndexAdmin/ListIndexes", "user"),
          Map.entry("IndexAdmin/DescribeServer", "user"),
          Map.entry("IndexAdmin/DescribeCluster", "user"),
          Map.entry("DirectAccess/Grant", "read"),
          Map.entry("DirectAccess/GrantGates", "read all"),
          Map.entry("DirectAccess/Release", "user"));

  private static final User NOBODY = new User("nobody", null, List.of());

  /** A request of a method for an index, empty but for the index's name. */
  @SuppressWarnings("unchecked")
  private static <Q> Q request(MethodDescriptor<Q, ?> method, String index) {
    final Message empty =
        (Message) ((PrototypeMarshaller<Q>) method.getRequestMarshaller()).getMessagePrototype();
    final var field = empty.getDescriptorForType().findFieldByName("index");
    return (Q) (field == null ? empty : empty.toBuilder().setField(field, index).build());
  }

  private static User with(Right right, String index, boolean isPrefix) {
    return new User("ann", null, List.of(new User.Grant(right, index, isPrefix)));
  }

  /** What a method needs, tried out. */
  private static <Q> String needed(MethodDescriptor<Q, ?> method) {
    final CallRules.Rule<Q, ?> rule = CallRules.of(method);
    final String name = rule.index(request(method, "orders"));
    if (rule.isAllowed(NOBODY, name)) {
      return "user";
    }
    for (final Right right : Right.values()) {
      if (rule.isAllowed(with(right, "orders", false), name)) {
        assertEquals("orders", name);
        assertEquals("default", rule.index(request(method, "")), method::getFullMethodName);
        return right.toString();
      }
      if (rule.isAllowed(with(right, "", true), name)) {
        assertEquals("*", name);
        return right + " all";
      }
    }
    return "nobody";
  }

  @Test
  void eachMethodNeedsItsRight() {
    final Map<String, String> needed = new TreeMap<>();
    for (final ServiceDescriptor service : GUARDED) {
      for (final MethodDescriptor<?, ?> method : service.getMethods()) {
        final String name = method.getFullMethodName();
        needed.put(name.substring(name.lastIndexOf('.') + 1), needed(method));
      }
    }
    assertEquals(new TreeMap<>(EXPECTED), needed);
  }

  /** A service is guarded, or open to everybody; nodes prove themselves to Replication. */
  @Test
  void eachServiceOfTheServerIsKnown() {
    final Set<String> known =
        GUARDED.stream()
            .map(ServiceDescriptor::getName)
            .collect(Collectors.toCollection(TreeSet::new));
    known.add(HealthGrpc.SERVICE_NAME);
    known.add(ServerReflectionGrpc.SERVICE_NAME);
    final RingServerBuilder builder = RingServerBuilder.forPort(0);
    try (Indexes indexes = new Indexes()) {
      IndexServer.addServices(builder, indexes, new HealthStatusManager());
      DirectAccessService.addTo(builder, indexes, DirectAccessService.Mode.NEVER);
    }
    assertEquals(
        known,
        builder.services().stream()
            .map(service -> service.getServiceDescriptor().getName())
            .collect(Collectors.toCollection(TreeSet::new)));
  }

  @Test
  void aMethodWithoutARuleIsRefusedAtTheStart() {
    assertThrows(
        IllegalArgumentException.class, () -> CallRules.of(ReplicationGrpc.getReplicateMethod()));
  }

  @Test
  void listsHaveWhatTheUserMayRead() {
    final ListIndexesResponse list =
        ListIndexesResponse.newBuilder()
            .addIndexes(IndexDescription.newBuilder().setName("a"))
            .addIndexes(IndexDescription.newBuilder().setName("b"))
            .build();
    assertEquals(
        list.toBuilder().removeIndexes(0).build(),
        CallRules.of(IndexAdminGrpc.getListIndexesMethod()).visible().apply(list, "b"::equals));
    final DescribeClusterResponse cluster =
        DescribeClusterResponse.newBuilder()
            .setNode(7)
            .addGroups(GroupDescription.newBuilder().setIndex("a"))
            .addGroups(GroupDescription.newBuilder().setIndex("b"))
            .build();
    assertEquals(
        cluster.toBuilder().removeGroups(0).build(),
        CallRules.of(IndexAdminGrpc.getDescribeClusterMethod())
            .visible()
            .apply(cluster, "b"::equals));
  }
}
