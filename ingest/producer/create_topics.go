package producer

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/lifecycle"
)

// TopicsConfig has the settings of the topics of the log.
type TopicsConfig struct {
	Connection
	Prefix     string
	Partitions int
	Replicas   int
	Retention  time.Duration
}

// DefaultTopicsConfig needs Brokers. A cluster wants three replicas.
func DefaultTopicsConfig() TopicsConfig {
	return TopicsConfig{Partitions: 6, Replicas: 1, Retention: 7 * 24 * time.Hour}
}

// Validate joins an error for each wrong field.
func (c TopicsConfig) Validate() error {
	errs := []error{c.Connection.Validate()}
	if c.Partitions < 1 {
		errs = append(errs, fmt.Errorf("partitions %d: want 1 or more", c.Partitions))
	}
	if c.Replicas < 1 {
		errs = append(errs, fmt.Errorf("replicas %d: want 1 or more", c.Replicas))
	}
	if c.Retention < time.Hour {
		errs = append(errs, fmt.Errorf("retention %s: want an hour or more, what expires unread is lost", c.Retention))
	}
	return errors.Join(errs...)
}

// TopicState describes one topic as it is, or would be created.
type TopicState struct {
	Name       string // with prefix
	Missing    bool   // it did not exist before
	Partitions int
	// Differs has the differences of an existing topic from the configuration. The topic is used as it is: partitions
	// cannot be changed beside running producers, and an operator may have chosen.
	Differs []string
}

// CreateTopics creates missing topics and checks the others. It may be repeated, also by several processes at once. The
// error names every topic that would lose or refuse records as it is.
func CreateTopics(ctx context.Context, cfg TopicsConfig) ([]TopicState, error) {
	return cfg.withAdmin(func(a *admin) ([]TopicState, error) {
		before, err := a.look(ctx)
		if err != nil {
			return nil, err
		}
		if err := a.create(ctx, before); err != nil {
			return before, err
		}
		after, err := a.awaitLeaders(ctx, 1)
		for i := range after {
			after[i].Missing = before[i].Missing
		}
		return after, err
	})
}

// CheckTopics returns the states that CreateTopics would return, and changes nothing.
func CheckTopics(ctx context.Context, cfg TopicsConfig) ([]TopicState, error) {
	return cfg.withAdmin(func(a *admin) ([]TopicState, error) { return a.look(ctx) })
}

// admin asks the cluster's controller.
type admin struct {
	cfg    TopicsConfig
	client *kafka.Client
	names  []string
}

func (c TopicsConfig) withAdmin(do func(*admin) ([]TopicState, error)) ([]TopicState, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("configure topics: %w", err)
	}
	a := &admin{cfg: c}
	for _, t := range event.Topics {
		a.names = append(a.names, c.Prefix+t.Name)
	}
	transport, err := c.Transport(a.names...)
	if err != nil {
		return nil, fmt.Errorf("configure topics: %w", err)
	}
	defer transport.CloseIdleConnections()
	a.client = &kafka.Client{Addr: c.Address(), Transport: transport}
	return do(a)
}

const (
	maxMessageBytes = "max.message.bytes"
	retentionMS     = "retention.ms"
	cleanupPolicy   = "cleanup.policy"
	minInsync       = "min.insync.replicas"
)

func (c TopicsConfig) retentionMS() string { return strconv.FormatInt(c.Retention.Milliseconds(), 10) }

// minInsync is how many replicas have an acknowledged record: of three, one may be lost and another be away. "" is the
// brokers' default, for fewer.
func (c TopicsConfig) minInsync() string {
	if c.Replicas >= 3 {
		return "2"
	}
	return ""
}

func (a *admin) create(ctx context.Context, states []TopicState) error {
	req := kafka.CreateTopicsRequest{}
	settings := []kafka.ConfigEntry{
		{ConfigName: maxMessageBytes, ConfigValue: strconv.Itoa(event.MaxRecordBytes)},
		{ConfigName: retentionMS, ConfigValue: a.cfg.retentionMS()},
		{ConfigName: cleanupPolicy, ConfigValue: "delete"},
	}
	if insync := a.cfg.minInsync(); insync != "" {
		settings = append(settings, kafka.ConfigEntry{ConfigName: minInsync, ConfigValue: insync})
	}
	for _, s := range states {
		if s.Missing {
			req.Topics = append(req.Topics, kafka.TopicConfig{Topic: s.Name, NumPartitions: a.cfg.Partitions,
				ReplicationFactor: a.cfg.Replicas, ConfigEntries: settings})
		}
	}
	if len(req.Topics) == 0 {
		return nil
	}
	res, err := a.client.CreateTopics(ctx, &req)
	if err != nil {
		return fmt.Errorf("create topics: %w", err)
	}
	var errs []error
	for name, err := range res.Errors {
		if err != nil && !errors.Is(err, kafka.TopicAlreadyExists) { // another process was first
			errs = append(errs, fmt.Errorf("create topic %s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

// awaitLeaders waits until every topic exists with a number of partitions and a leader for each: a broker answers a
// creation earlier, and another knows the topic later.
func (a *admin) awaitLeaders(ctx context.Context, partitions int) ([]TopicState, error) {
	for {
		states, err := a.look(ctx)
		ready := err == nil
		for _, s := range states {
			ready = ready && !s.Missing && s.Partitions >= partitions
		}
		waits := errors.Is(err, kafka.LeaderNotAvailable) || errors.Is(err, kafka.UnknownTopicOrPartition)
		if ready || ctx.Err() != nil || err != nil && !waits {
			return states, err
		}
		if err := lifecycle.Pause(ctx, 50*time.Millisecond); err != nil {
			return states, fmt.Errorf("wait for topics: %w", err)
		}
	}
}

func (a *admin) look(ctx context.Context) ([]TopicState, error) {
	meta, err := a.client.Metadata(ctx, &kafka.MetadataRequest{Topics: a.names})
	if err != nil {
		return nil, fmt.Errorf("look at topics: %w", err)
	}
	states := make([]TopicState, len(a.names))
	var errs []error
	for i, t := range meta.Topics {
		states[i] = TopicState{Name: t.Name, Partitions: len(t.Partitions)}
		switch {
		case errors.Is(t.Error, kafka.UnknownTopicOrPartition):
			states[i] = TopicState{Name: t.Name, Partitions: a.cfg.Partitions, Missing: true}
		case t.Error != nil:
			errs = append(errs, fmt.Errorf("look at topic %s: %w", t.Name, t.Error))
		default:
			errs = append(errs, a.compare(ctx, &states[i], t))
		}
	}
	return states, errors.Join(errs...)
}

// compare compares an existing topic with the configuration.
func (a *admin) compare(ctx context.Context, s *TopicState, t kafka.Topic) error {
	for _, p := range t.Partitions {
		if p.Error != nil || p.Leader.Host == "" {
			return fmt.Errorf("look at topic %s/%d: %w", t.Name, p.ID, kafka.LeaderNotAvailable)
		}
	}
	is, err := a.settings(ctx, t.Name)
	if err != nil {
		return err
	}
	compare := func(what, is, want string) {
		if is != want {
			s.Differs = append(s.Differs, fmt.Sprintf("%s %s, configured %s", what, is, want))
		}
	}
	compare("partitions", strconv.Itoa(len(t.Partitions)), strconv.Itoa(a.cfg.Partitions))
	compare("replicas", strconv.Itoa(len(t.Partitions[0].Replicas)), strconv.Itoa(a.cfg.Replicas))
	compare(retentionMS, is[retentionMS], a.cfg.retentionMS())
	if insync := a.cfg.minInsync(); insync != "" {
		compare(minInsync, is[minInsync], insync)
	}
	if strings.Contains(is[cleanupPolicy], "compact") {
		return fmt.Errorf("topic %s: %s is %s and would drop facts: want delete",
			t.Name, cleanupPolicy, is[cleanupPolicy])
	}
	if n, err := strconv.Atoi(is[maxMessageBytes]); err == nil && n < event.MaxRecordBytes {
		return fmt.Errorf("topic %s: %s is %d and would refuse records: want %d or more",
			t.Name, maxMessageBytes, n, event.MaxRecordBytes)
	}
	return nil
}

func (a *admin) settings(ctx context.Context, topic string) (map[string]string, error) {
	res, err := a.client.DescribeConfigs(ctx, &kafka.DescribeConfigsRequest{
		Resources: []kafka.DescribeConfigRequestResource{{
			ResourceType: kafka.ResourceTypeTopic, ResourceName: topic,
			ConfigNames: []string{maxMessageBytes, retentionMS, cleanupPolicy, minInsync},
		}},
	})
	if err == nil {
		err = res.Resources[0].Error
	}
	if err != nil {
		return nil, fmt.Errorf("look at settings of topic %s: %w", topic, err)
	}
	settings := map[string]string{}
	for _, e := range res.Resources[0].ConfigEntries {
		settings[e.ConfigName] = e.ConfigValue
	}
	return settings, nil
}
