"""nbgrader's configuration of this course: every `nbgrader` command run in this folder reads it."""

from autograder.nbgrader_bridge.settings import configure

c = get_config()  # noqa: F821  (nbgrader defines it when it runs this file)
configure(c)

# Settings of your course go below; what stands here is an example of each kind.
# c.CourseDirectory.course_id = "deep-learning"
# c.Exchange.root = "/srv/nbgrader/exchange"
# c.SandboxLimits.call_seconds = 10.0
# c.SandboxLimits.memory = 2048 << 20
# c.GradingOptions.allow_degraded = True  # grade although a layer of the sandbox is missing
# c.AssignLatePenalties.plugin_class = "nbgrader.plugins.LateSubmissionPlugin"
# c.LateSubmissionPlugin.penalty_method = "zero"
