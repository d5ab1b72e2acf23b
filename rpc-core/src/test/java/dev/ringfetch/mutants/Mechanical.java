package dev.ringfetch.mutants;

import com.sun.source.tree.AssignmentTree;
import com.sun.source.tree.BinaryTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.ConditionalExpressionTree;
import com.sun.source.tree.ExpressionStatementTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.ForLoopTree;
import com.sun.source.tree.IfTree;
import com.sun.source.tree.MemberSelectTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.ParenthesizedTree;
import com.sun.source.tree.ReturnTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.Tree.Kind;
import com.sun.source.tree.VariableTree;
import com.sun.source.tree.WhileLoopTree;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TreeScanner;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Finds what can be broken in a source file without knowing what it is for:
 *
 * <ul>
 *   <li>{@code fence}: a full fence is left out.
 *   <li>{@code order}: an ordered load or store is plain.
 *   <li>{@code true}, {@code false}: a condition always holds, or never.
 *   <li>{@code without}: one term of a condition is left out.
 *   <li>{@code bound}: a comparison is off by one.
 *   <li>{@code limit}: one side of a minimum or maximum is left out.
 * </ul>
 *
 * <p>An id is class, method, kind and a number within these, so that it survives changes elsewhere.
 */
final class Mechanical extends TreeScanner<Void, Void> {
  /** Not constants for the compiler, which would refuse what they make unreachable. */
  private static final String TRUE = "Boolean.TRUE";

  private static final String FALSE = "Boolean.FALSE";

  private static final Map<String, String> PLAIN =
      Map.of(
          "getLongAcquire", "getLong",
          "getIntAcquire", "getInt",
          "putLongRelease", "putLong",
          "putIntRelease", "putInt",
          "getVolatile", "get",
          "setVolatile", "set");

  private static final Map<Kind, String> OFF_BY_ONE =
      Map.of(
          Kind.LESS_THAN, "<=",
          Kind.LESS_THAN_EQUAL, "<",
          Kind.GREATER_THAN, ">=",
          Kind.GREATER_THAN_EQUAL, ">");

  private final String path;
  private final String source;
  private final String className;
  private final CompilationUnitTree unit;
  private final SourcePositions positions;
  private final List<Mutant> found = new ArrayList<>();
  private final Map<String, Integer> numbers = new HashMap<>();

  private String method = "class";

  private Mechanical(
      String path, String source, CompilationUnitTree unit, SourcePositions positions) {
    this.path = path;
    this.source = source;
    this.className = path.substring(path.lastIndexOf('/') + 1, path.lastIndexOf('.'));
    this.unit = unit;
    this.positions = positions;
  }

  /** All mutants of a file. */
  static List<Mutant> of(
      String path, String source, CompilationUnitTree unit, SourcePositions positions) {
    final Mechanical scanner = new Mechanical(path, source, unit, positions);
    scanner.scan(unit, null);
    return scanner.found;
  }

  private void add(String kind, int start, int end, String after) {
    final String name = className + "." + method + "." + kind;
    found.add(
        new Mutant(
            name + "." + numbers.merge(name, 1, Integer::sum),
            path,
            Mutant.lineOf(source, start),
            start,
            end,
            source.substring(start, end),
            after,
            List.of()));
  }

  private void replace(String kind, Tree tree, String after) {
    add(kind, start(tree), end(tree), after);
  }

  private int start(Tree tree) {
    return (int) positions.getStartPosition(unit, tree);
  }

  private int end(Tree tree) {
    return (int) positions.getEndPosition(unit, tree);
  }

  private String text(Tree tree) {
    return source.substring(start(tree), end(tree));
  }

  @Override
  public Void visitMethod(MethodTree tree, Void p) {
    final String outer = method;
    method = tree.getName().contentEquals("<init>") ? "new" : tree.getName().toString();
    super.visitMethod(tree, null);
    method = outer;
    return null;
  }

  @Override
  public Void visitExpressionStatement(ExpressionStatementTree tree, Void p) {
    if (tree.getExpression() instanceof MethodInvocationTree call
        && nameOf(call).equals("fullFence")) {
      replace("fence", tree, "");
    }
    return super.visitExpressionStatement(tree, null);
  }

  @Override
  public Void visitMethodInvocation(MethodInvocationTree tree, Void p) {
    final String name = nameOf(tree);
    if (PLAIN.containsKey(name)) {
      final int end = end(tree.getMethodSelect());
      add("order", end - name.length(), end, PLAIN.get(name));
    }
    if (text(tree.getMethodSelect()).matches("Math\\.(min|max)")) {
      for (final ExpressionTree argument : tree.getArguments()) {
        replace("limit", tree, "(" + text(argument) + ")");
      }
    }
    return super.visitMethodInvocation(tree, null);
  }

  private static String nameOf(MethodInvocationTree call) {
    return call.getMethodSelect() instanceof MemberSelectTree select
        ? select.getIdentifier().toString()
        : call.getMethodSelect().toString();
  }

  @Override
  public Void visitIf(IfTree tree, Void p) {
    breakAll(tree.getCondition());
    return super.visitIf(tree, null);
  }

  @Override
  public Void visitWhileLoop(WhileLoopTree tree, Void p) {
    breakAll(tree.getCondition());
    return super.visitWhileLoop(tree, null);
  }

  @Override
  public Void visitForLoop(ForLoopTree tree, Void p) {
    breakAll(tree.getCondition());
    return super.visitForLoop(tree, null);
  }

  @Override
  public Void visitConditionalExpression(ConditionalExpressionTree tree, Void p) {
    breakAll(tree.getCondition());
    return super.visitConditionalExpression(tree, null);
  }

  @Override
  public Void visitReturn(ReturnTree tree, Void p) {
    breakIfCondition(tree.getExpression());
    return super.visitReturn(tree, null);
  }

  @Override
  public Void visitVariable(VariableTree tree, Void p) {
    breakIfCondition(tree.getInitializer());
    return super.visitVariable(tree, null);
  }

  @Override
  public Void visitAssignment(AssignmentTree tree, Void p) {
    breakIfCondition(tree.getExpression());
    return super.visitAssignment(tree, null);
  }

  private void breakIfCondition(ExpressionTree tree) {
    if (tree != null) {
      switch (tree.getKind()) {
        case EQUAL_TO,
            NOT_EQUAL_TO,
            LESS_THAN,
            LESS_THAN_EQUAL,
            GREATER_THAN,
            GREATER_THAN_EQUAL,
            CONDITIONAL_AND,
            CONDITIONAL_OR,
            LOGICAL_COMPLEMENT ->
            breakAll(tree);
        default -> {}
      }
    }
  }

  /** Breaks a condition and its terms. */
  private void breakAll(ExpressionTree condition) {
    if (condition == null || bare(condition).getKind() == Kind.BOOLEAN_LITERAL) {
      return;
    }
    final ExpressionTree tree = bare(condition);
    if (!isJunction(tree)) {
      replace("true", tree, always(tree));
      replace("false", tree, never(tree));
    }
    breakTerms(tree);
  }

  private void breakTerms(ExpressionTree tree) {
    if (!isJunction(tree)) {
      breakBound(tree);
      return;
    }
    final boolean and = tree.getKind() == Kind.CONDITIONAL_AND;
    replace(and ? "false" : "true", tree, and ? never(tree) : always(tree));
    for (final ExpressionTree term : terms(tree, tree.getKind())) {
      replace("without", term, and ? always(term) : never(term));
      breakTerms(bare(term));
    }
  }

  private String always(ExpressionTree condition) {
    return assigns(condition) ? "(" + text(condition) + " || " + TRUE + ")" : TRUE;
  }

  private String never(ExpressionTree condition) {
    return assigns(condition) ? "(" + text(condition) + " && " + FALSE + ")" : FALSE;
  }

  /** Then it must be computed for what follows to compile. */
  private static boolean assigns(ExpressionTree condition) {
    return Boolean.TRUE.equals(
        new TreeScanner<Boolean, Void>() {
          @Override
          public Boolean visitAssignment(AssignmentTree tree, Void p) {
            return true;
          }

          @Override
          public Boolean reduce(Boolean one, Boolean other) {
            return Boolean.TRUE.equals(one) || Boolean.TRUE.equals(other);
          }
        }.scan(condition, null));
  }

  private void breakBound(ExpressionTree tree) {
    final String operator = OFF_BY_ONE.get(tree.getKind());
    if (operator != null) {
      final BinaryTree comparison = (BinaryTree) tree;
      replace(
          "bound",
          tree,
          text(comparison.getLeftOperand())
              + " "
              + operator
              + " "
              + text(comparison.getRightOperand()));
    }
  }

  private static List<ExpressionTree> terms(ExpressionTree tree, Kind kind) {
    if (tree.getKind() != kind) {
      return List.of(tree);
    }
    final BinaryTree junction = (BinaryTree) tree;
    final List<ExpressionTree> terms = new ArrayList<>(terms(junction.getLeftOperand(), kind));
    terms.addAll(terms(junction.getRightOperand(), kind));
    return terms;
  }

  private static boolean isJunction(ExpressionTree tree) {
    return tree.getKind() == Kind.CONDITIONAL_AND || tree.getKind() == Kind.CONDITIONAL_OR;
  }

  private static ExpressionTree bare(ExpressionTree tree) {
    return tree instanceof ParenthesizedTree parentheses ? bare(parentheses.getExpression()) : tree;
  }
}
