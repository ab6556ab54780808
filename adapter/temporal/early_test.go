package temporal

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	commandpb "go.temporal.io/api/command/v1"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	protocolpb "go.temporal.io/api/protocol/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	updatepb "go.temporal.io/api/update/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// oneRun is a server of Temporal that has one run, and hands its tasks out when the test says so.
type oneRun struct {
	workflowservice.UnimplementedWorkflowServiceServer
	workflows  chan *workflowservice.PollWorkflowTaskQueueResponse
	activities chan *workflowservice.PollActivityTaskQueueResponse
	done       chan *workflowservice.RespondWorkflowTaskCompletedRequest
	failed     chan *workflowservice.RespondWorkflowTaskFailedRequest
	acted      chan *workflowservice.RespondActivityTaskCompletedRequest

	events []*historypb.HistoryEvent
	begun  int64
}

func newOneRun() *oneRun {
	return &oneRun{
		workflows:  make(chan *workflowservice.PollWorkflowTaskQueueResponse),
		activities: make(chan *workflowservice.PollActivityTaskQueueResponse),
		done:       make(chan *workflowservice.RespondWorkflowTaskCompletedRequest, 1),
		failed:     make(chan *workflowservice.RespondWorkflowTaskFailedRequest, 1),
		acted:      make(chan *workflowservice.RespondActivityTaskCompletedRequest, 1),
	}
}

func (s *oneRun) GetSystemInfo(
	context.Context, *workflowservice.GetSystemInfoRequest,
) (*workflowservice.GetSystemInfoResponse, error) {
	return &workflowservice.GetSystemInfoResponse{Capabilities: &workflowservice.GetSystemInfoResponse_Capabilities{
		SdkMetadata: true, SignalAndQueryHeader: true, InternalErrorDifferentiation: true}}, nil
}

func (s *oneRun) DescribeNamespace(
	context.Context, *workflowservice.DescribeNamespaceRequest,
) (*workflowservice.DescribeNamespaceResponse, error) {
	return &workflowservice.DescribeNamespaceResponse{}, nil
}

func (s *oneRun) PollWorkflowTaskQueue(
	ctx context.Context, in *workflowservice.PollWorkflowTaskQueueRequest,
) (*workflowservice.PollWorkflowTaskQueueResponse, error) {
	from := s.workflows
	if in.GetTaskQueue().GetKind() == enumspb.TASK_QUEUE_KIND_STICKY {
		from = nil
	}
	select {
	case task := <-from:
		return task, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *oneRun) PollActivityTaskQueue(
	ctx context.Context, _ *workflowservice.PollActivityTaskQueueRequest,
) (*workflowservice.PollActivityTaskQueueResponse, error) {
	select {
	case task := <-s.activities:
		return task, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *oneRun) RespondWorkflowTaskCompleted(
	_ context.Context, in *workflowservice.RespondWorkflowTaskCompletedRequest,
) (*workflowservice.RespondWorkflowTaskCompletedResponse, error) {
	s.done <- in
	return &workflowservice.RespondWorkflowTaskCompletedResponse{}, nil
}

func (s *oneRun) RespondWorkflowTaskFailed(
	_ context.Context, in *workflowservice.RespondWorkflowTaskFailedRequest,
) (*workflowservice.RespondWorkflowTaskFailedResponse, error) {
	s.failed <- in
	return &workflowservice.RespondWorkflowTaskFailedResponse{}, nil
}

func (s *oneRun) RespondActivityTaskCompleted(
	_ context.Context, in *workflowservice.RespondActivityTaskCompletedRequest,
) (*workflowservice.RespondActivityTaskCompletedResponse, error) {
	s.acted <- in
	return &workflowservice.RespondActivityTaskCompletedResponse{}, nil
}

// add adds an event to the history.
func (s *oneRun) add(kind enumspb.EventType, e *historypb.HistoryEvent) int64 {
	e.EventId, e.EventType, e.EventTime = int64(len(s.events)+1), kind, timestamppb.New(looptest.Epoch.Add(time.Duration(len(s.events))*time.Second))
	s.events = append(s.events, e)
	return e.EventId
}

// task has a worker make a task of the run with these updates, and adds what it has done to the history.
func (s *oneRun) task(t *testing.T, updates ...*protocolpb.Message) *workflowservice.RespondWorkflowTaskCompletedRequest {
	t.Helper()
	scheduled := s.add(enumspb.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED, &historypb.HistoryEvent{})
	for _, u := range updates {
		u.SequencingId = &protocolpb.Message_EventId{EventId: scheduled}
	}
	before := s.begun
	s.begun = s.add(enumspb.EVENT_TYPE_WORKFLOW_TASK_STARTED, &historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_WorkflowTaskStartedEventAttributes{
		WorkflowTaskStartedEventAttributes: &historypb.WorkflowTaskStartedEventAttributes{ScheduledEventId: scheduled}}})
	s.workflows <- &workflowservice.PollWorkflowTaskQueueResponse{
		TaskToken: []byte("task"), WorkflowExecution: execution, WorkflowType: &commonpb.WorkflowType{Name: DefaultAgent},
		PreviousStartedEventId: before, StartedEventId: s.begun, Attempt: 1,
		History: &historypb.History{Events: s.events}, Messages: updates,
	}
	var done *workflowservice.RespondWorkflowTaskCompletedRequest
	select {
	case done = <-s.done:
	case failed := <-s.failed:
		require.Fail(t, "the worker cannot make the task", "%v", failed.Failure)
	}
	s.add(enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED, &historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_WorkflowTaskCompletedEventAttributes{
		WorkflowTaskCompletedEventAttributes: &historypb.WorkflowTaskCompletedEventAttributes{
			ScheduledEventId: scheduled, StartedEventId: s.begun, SdkMetadata: done.SdkMetadata}}})
	for _, c := range done.Commands {
		s.command(c, done.Messages, updates)
	}
	return done
}

// command adds the event of a command.
func (s *oneRun) command(c *commandpb.Command, said, updates []*protocolpb.Message) {
	switch a := c.Attributes.(type) {
	case *commandpb.Command_RecordMarkerCommandAttributes:
		m := a.RecordMarkerCommandAttributes
		s.add(enumspb.EVENT_TYPE_MARKER_RECORDED, &historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_MarkerRecordedEventAttributes{
			MarkerRecordedEventAttributes: &historypb.MarkerRecordedEventAttributes{MarkerName: m.MarkerName, Details: m.Details}}})
	case *commandpb.Command_ScheduleActivityTaskCommandAttributes:
		m := a.ScheduleActivityTaskCommandAttributes
		s.add(enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED, &historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_ActivityTaskScheduledEventAttributes{
			ActivityTaskScheduledEventAttributes: &historypb.ActivityTaskScheduledEventAttributes{
				ActivityId: m.ActivityId, ActivityType: m.ActivityType, TaskQueue: m.TaskQueue, Input: m.Input}}})
	case *commandpb.Command_StartTimerCommandAttributes:
		s.add(enumspb.EVENT_TYPE_TIMER_STARTED, &historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_TimerStartedEventAttributes{
			TimerStartedEventAttributes: &historypb.TimerStartedEventAttributes{TimerId: a.StartTimerCommandAttributes.TimerId}}})
	case *commandpb.Command_ProtocolMessageCommandAttributes:
		for _, m := range said {
			if m.Id != a.ProtocolMessageCommandAttributes.MessageId {
				continue
			}
			accepted, answered := &updatepb.Acceptance{}, &updatepb.Response{}
			if m.Body.UnmarshalTo(answered) == nil {
				s.add(enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_COMPLETED, &historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_WorkflowExecutionUpdateCompletedEventAttributes{
					WorkflowExecutionUpdateCompletedEventAttributes: &historypb.WorkflowExecutionUpdateCompletedEventAttributes{
						Meta: answered.Meta, Outcome: answered.Outcome}}})
			}
			if m.Body.UnmarshalTo(accepted) == nil {
				request := &updatepb.Request{}
				_ = updates[0].Body.UnmarshalTo(request)
				s.add(enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED, &historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_WorkflowExecutionUpdateAcceptedEventAttributes{
					WorkflowExecutionUpdateAcceptedEventAttributes: &historypb.WorkflowExecutionUpdateAcceptedEventAttributes{
						ProtocolInstanceId: m.ProtocolInstanceId, AcceptedRequestMessageId: accepted.AcceptedRequestMessageId,
						AcceptedRequestSequencingEventId: accepted.AcceptedRequestSequencingEventId, AcceptedRequest: request}}})
			}
		}
	}
}

// act has a worker make the last activity of the history, and adds its result.
func (s *oneRun) act() {
	var scheduled *historypb.HistoryEvent
	for _, e := range s.events {
		if e.GetActivityTaskScheduledEventAttributes() != nil {
			scheduled = e
		}
	}
	of := scheduled.GetActivityTaskScheduledEventAttributes()
	hour := durationpb.New(time.Hour)
	now := timestamppb.Now()
	s.activities <- &workflowservice.PollActivityTaskQueueResponse{
		TaskToken: []byte("activity"), WorkflowNamespace: "default", WorkflowExecution: execution,
		WorkflowType: &commonpb.WorkflowType{Name: DefaultAgent}, ActivityType: of.ActivityType, ActivityId: of.ActivityId, Input: of.Input,
		ScheduledTime: now, StartedTime: now, CurrentAttemptScheduledTime: now, Attempt: 1, ScheduleToCloseTimeout: hour, StartToCloseTimeout: hour,
		HeartbeatTimeout: hour,
	}
	result := (<-s.acted).Result
	begun := s.add(enumspb.EVENT_TYPE_ACTIVITY_TASK_STARTED, &historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_ActivityTaskStartedEventAttributes{
		ActivityTaskStartedEventAttributes: &historypb.ActivityTaskStartedEventAttributes{ScheduledEventId: scheduled.EventId, Attempt: 1}}})
	s.add(enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED, &historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_ActivityTaskCompletedEventAttributes{
		ActivityTaskCompletedEventAttributes: &historypb.ActivityTaskCompletedEventAttributes{ScheduledEventId: scheduled.EventId, StartedEventId: begun, Result: result}}})
}

var execution = &commonpb.WorkflowExecution{WorkflowId: "early", RunId: "early-run"}

// A worker that has nothing of a run is given an answer with the reply that is asked about, which another
// worker has shown and died: it has not yet read the reply when it checks the answer, and takes it.
func TestAnAnswerThatComesWithItsQuestionIsTaken(t *testing.T) {
	tools, err := tool.NewSet(tool.New("pay", "Pays.", func(context.Context, struct{}) (string, error) { return "paid", nil },
		tool.Approval(policy.Approval{When: policy.ApproveAlways})))
	require.NoError(t, err)
	calls := looptest.Call(message.Call{ID: "c1", Name: "pay", Arguments: "{}"})
	question := ""
	s, err := session.New(session.Config{ID: "early"})
	require.NoError(t, err)
	_, err = loopRun(t.Context(), looptest.NewModel(calls, looptest.Say("Paid.")), s, "Pay.", loop.Config{Tools: tools},
		loop.WithApprover(func(_ context.Context, q loop.PersonQuestion) (machine.Response, error) {
			question = q.ID
			return machine.Response{Verdict: machine.Approve}, nil
		}))
	require.NoError(t, err)
	of := func() Worker { return Worker{Model: looptest.NewModel(calls), Tools: tools, Heartbeat: time.Minute} }
	answer := over(machine.Response{Question: question, Verdict: machine.Approve})
	assert.Equal(t, DefaultAgent+".tool", early(t, of, false, UpdateAnswer, answer))
}

// The same is so of a person's plan for a failure that the worker has not read yet.
func TestAPlanThatComesWithItsFailureIsTaken(t *testing.T) {
	gone := looptest.Fail(&fault.ProviderError{Class: fault.Auth, Message: "bad key"})
	of := func() Worker {
		return Worker{Model: looptest.NewModel(gone), Models: map[string]loop.Model{"backup": looptest.NewModel()}, Heartbeat: time.Minute}
	}
	plan := over(machine.Plan{Do: machine.Fallback, Model: "backup"})
	assert.Equal(t, DefaultAgent+".model", early(t, of, true, UpdatePlan, plan))
}

// early has one worker make the first activity of a run, and another take an update with its result. It returns
// what the run does then.
func early(t *testing.T, of func() Worker, person bool, update string, in any) (next string) {
	t.Helper()
	run := newOneRun()
	server := grpc.NewServer()
	workflowservice.RegisterWorkflowServiceServer(server, run)
	at, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go func() { _ = server.Serve(at) }()
	defer server.Stop()
	begin := func() (stop func()) {
		c, err := client.Dial(client.Options{HostPort: at.Addr().String(), Logger: quiet{}})
		require.NoError(t, err)
		w := worker.New(c, "queue", worker.Options{WorkerStopTimeout: time.Second})
		require.NoError(t, Register(w, of()))
		require.NoError(t, w.Start())
		return func() { w.Stop(); c.Close() }
	}
	order, err := Order(Options{ID: "early", TaskQueue: "queue", Person: person}, loop.Input{Prompt: "Pay."}, loop.Config{})
	require.NoError(t, err)
	input, err := converter.GetDefaultDataConverter().ToPayloads(order)
	require.NoError(t, err)
	run.add(enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED, &historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_WorkflowExecutionStartedEventAttributes{
		WorkflowExecutionStartedEventAttributes: &historypb.WorkflowExecutionStartedEventAttributes{
			WorkflowType: &commonpb.WorkflowType{Name: DefaultAgent}, TaskQueue: &taskqueuepb.TaskQueue{Name: "queue"}, Input: input,
			OriginalExecutionRunId: execution.RunId, FirstExecutionRunId: execution.RunId, Attempt: 1, WorkflowTaskTimeout: durationpb.New(time.Minute)}}})
	stop := begin()
	run.task(t)
	run.act()
	stop()

	stop = begin()
	defer stop()
	given, err := converter.GetDefaultDataConverter().ToPayloads(in)
	require.NoError(t, err)
	body, err := anypb.New(&updatepb.Request{Meta: &updatepb.Meta{UpdateId: "u1"}, Input: &updatepb.Input{Name: update, Args: given}})
	require.NoError(t, err)
	done := run.task(t, &protocolpb.Message{Id: "u1/request", ProtocolInstanceId: "u1", Body: body})
	refused := &updatepb.Rejection{}
	for _, m := range done.Messages {
		require.Error(t, m.Body.UnmarshalTo(refused), "%v", refused)
	}
	timer := ""
	for _, c := range done.Commands {
		if a := c.GetStartTimerCommandAttributes(); a != nil {
			timer = a.TimerId
		}
	}
	require.NotEmpty(t, timer)
	started := int64(0)
	for _, e := range run.events {
		if e.EventType == enumspb.EVENT_TYPE_TIMER_STARTED {
			started = e.EventId
		}
	}
	run.add(enumspb.EVENT_TYPE_TIMER_FIRED, &historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_TimerFiredEventAttributes{
		TimerFiredEventAttributes: &historypb.TimerFiredEventAttributes{TimerId: timer, StartedEventId: started}}})
	done = run.task(t)
	answered := &updatepb.Response{}
	for _, m := range done.Messages {
		require.NoError(t, m.Body.UnmarshalTo(answered))
	}
	for _, c := range done.Commands {
		if a := c.GetScheduleActivityTaskCommandAttributes(); a != nil {
			next = a.ActivityType.Name
		}
	}
	assert.NotNil(t, answered.GetOutcome().GetSuccess(), "%v", answered)

	again := worker.NewWorkflowReplayer()
	w, err := newAgent(of())
	require.NoError(t, err)
	again.RegisterWorkflowWithOptions(w.run, workflow.RegisterOptions{Name: w.Agent})
	assert.NoError(t, again.ReplayWorkflowHistory(quiet{}, &historypb.History{Events: run.events}), "a third worker makes the same of the history")
	return next
}
