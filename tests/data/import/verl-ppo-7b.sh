python3 -m verl.trainer.main_ppo \
  actor_rollout_ref.model.path=Qwen/Qwen2.5-7B-Instruct actor_rollout_ref.model.use_remove_padding=False \
  actor_rollout_ref.actor.ppo_mini_batch_size=64 actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=4 \
  actor_rollout_ref.rollout.tensor_model_parallel_size=1 actor_rollout_ref.rollout.gpu_memory_utilization=0.4 \
  actor_rollout_ref.rollout.enforce_eager=True actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu=8 \
  data.train_batch_size=256 data.max_prompt_length=512 data.max_response_length=256 \
  critic.model.path=Qwen/Qwen2.5-7B-Instruct critic.ppo_micro_batch_size_per_gpu=4 \
  trainer.n_gpus_per_node=8 trainer.nnodes=2
